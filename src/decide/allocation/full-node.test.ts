/**
 * A node with less than its pods claim, some of which cannot be lowered: nobody is promised what these keep. A raise
 * that counted on it would wait for ever, and whoever asked first would have the room.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aPdb } from '../../model/testing/records.ts';
import { anHpa } from '../../model/testing/sizing-records.ts';
import { type AllocationPod, sizeOf } from './allocation-pod.ts';
import { type Bound, holdAt } from './bounds.ts';
import type { PodFacts } from './hints.ts';
import { type NodePlan, type NodePod, type PodPlan, unhindered } from './node-input.ts';
import { planNode } from './plan-node.ts';
import { testInput, testPod, testRules, using } from './testing/pods.ts';
import { run, type World } from './testing/two-sided.ts';

describe('one tick', () => {
  const entry = (name: string, request: number, usage: number, change: Partial<NodePod> = {}): NodePod => ({
    pod: testPod(name, { request }),
    measured: using(usage),
    ...change,
  });
  const under = (bound: Bound): Partial<NodePod> => ({ hints: { ...unhindered, bounds: [bound] } });
  const budget = (min: number): Partial<NodePod> => under({ layer: 'pdb', reason: 'PodDisruptionBudget', min });
  const podOf = ({ pods }: NodePlan, name: string): PodPlan | undefined => pods.find((each) => each.name === name);

  test('integration 5: a request that an autoscaler divides by is not shed; the others divide what it leaves', () => {
    const found = planNode(
      testInput([
        entry('a', 400, 1500, { advice: 1500 }),
        entry('b', 400, 1500, { advice: 700 }),
        entry('scaled', 800, 900, under(holdAt(800, 'HorizontalPodAutoscaler'))),
      ]),
    );
    expect(found).toMatchObject({ mode: 'overloaded', steadySum: 1710, isOvercommitted: false });
    expect(found.pods.map(({ share, isWritten }) => [share, isWritten])).toEqual([
      [455, true],
      [455, true],
      [800, false],
    ]);
  });

  test('integration 6: nor does a budget that is short of pods give way to claims, as the operator would refuse', () => {
    const found = planNode(testInput([entry('a', 600, 1500, { advice: 1500 }), entry('b', 900, 10, budget(900))]));
    expect(podOf(found, 'a')).toMatchObject({ share: 810, isWritten: true });
    expect(podOf(found, 'b')).toMatchObject({ share: 900, isWritten: false });
    const reasons = podOf(found, 'b')?.clamps.map(({ reason }) => reason);
    expect(reasons).toContain('PodDisruptionBudget');
    expect(reasons).not.toContain('GuardRelaxed');
  });

  test('where there is no room beside it all stays as it is', () => {
    const found = planNode(
      testInput([entry('a', 300, 900, { advice: 900 }), entry('b', 1400, 10, budget(1400)), entry('c', 80, 10)]),
    );
    expect(found.pods.map(({ share }) => share)).toEqual([300, 1400, 80]);
    expect(found).toMatchObject({ writes: [], isOvercommitted: true });
  });
});

describe('agent and operator', () => {
  const free: PodFacts = { limitRanges: [], hpas: [], pdbs: [] };
  const kinds = {
    free,
    scaled: { ...free, hpas: [anHpa({ maxReplicas: 9, utilization: { cpu: 80 } })] },
    scaling: { ...free, hpas: [anHpa({ desiredReplicas: 5 })] },
    short: { ...free, pdbs: [aPdb({ disruptionsAllowed: 0 })] },
  } as const satisfies Record<string, PodFacts>;
  /** What is on the pods in the end, and which of them wait for room most of the last minute, not just for a pass. */
  const settle = (world: World): { readonly pods: readonly AllocationPod[]; readonly waiting: readonly string[] } => {
    let pods: readonly AllocationPod[] = world.pods;
    const waits = new Map<string, number>();
    run(
      world,
      120,
      (written) => {
        pods = written;
      },
      (admission, { name }, tick) => {
        if (tick < 90 || admission.kind !== 'held' || admission.reason !== 'CapacityInFlight') return;
        waits.set(name, (waits.get(name) ?? 0) + 1);
      },
    );
    // Of four passes a tick.
    return { pods, waiting: [...waits].flatMap(([name, count]) => (count > 60 ? [name] : [])) };
  };
  const base = { rules: testRules, facts: free, quota: undefined, usesHints: true, seed: 1 };

  test('two that need more beside one that keeps what it has get the same, and nobody waits', () => {
    const marks = { 'mbcas.io/workload-type': 'latency' };
    const { pods, waiting } = settle({
      ...base,
      pods: [
        testPod('scaled', { request: 800, limit: 1500 }),
        testPod('a', { request: 300, limit: 1500, marks }),
        testPod('b', { request: 300, limit: 1500, marks }),
      ],
      loads: [100, 900, 900],
      advice: [undefined, 900, 900],
      factsOf: (name) => (name === 'scaled' ? kinds.scaled : free),
    });
    expect(pods.map((pod) => sizeOf(pod).request)).toEqual([800, 455, 455]);
    expect(waiting).toEqual([]);
  });

  const row = fc.record({
    part: fc.integer({ min: 1, max: 6 }),
    extra: fc.integer({ min: 50, max: 900 }),
    load: fc.integer({ min: 0, max: 2500 }),
    weight: fc.constantFrom('1', '2', '4'),
    advice: fc.option(fc.integer({ min: 100, max: 1200 }), { nil: undefined }),
    kind: fc.constantFrom('free' as const, 'free' as const, 'scaled' as const, 'scaling' as const, 'short' as const),
  });

  test('for any full node: no raise waits for a decrease that cannot come', () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 1500, max: 1800 }),
        fc.constantFrom('requests+ceilings' as const, 'limits' as const),
        fc.nat(),
        (rows, requested, apply, seed) => {
          const parts = rows.reduce((sum, { part }) => sum + part, 0);
          const { waiting } = settle({
            ...base,
            seed,
            rules: { ...testRules, apply },
            pods: rows.map(({ part, extra, weight }, index) => {
              const request = Math.floor((requested * part) / parts);
              return testPod(`p${index}`, { request, limit: request + extra, marks: { 'mbcas.io/weight': weight } });
            }),
            loads: rows.map(({ load }) => load),
            advice: rows.map(({ advice }) => advice),
            factsOf: (name) => kinds[rows[Number(name.slice(1))]?.kind ?? 'free'],
          });
          expect(waiting).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
