import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AllocationPod, type CpuSize, sizeOf } from './allocation-pod.ts';
import type { LayerFloor } from './bounds.ts';
import type { ExclusionReason } from './eligibility.ts';
import { planNode } from './plan-node.ts';
import { purseOf } from './purse.ts';
import { defaultAllocationRules } from './rules.ts';
import { testInput, testPod, testRules, using } from './testing/pods.ts';
import { run, type World } from './testing/two-sided.ts';

const rules = { ...testRules, surplusShare: 0 };
const cpu = (request: number): CpuSize => ({ request, limit: undefined });

describe('what requests may add up to', () => {
  const seat = (share: number, request: number, more: { claim?: number; kept?: number; floor?: LayerFloor } = {}) => {
    const { claim = 100, kept = 0, floor } = more;
    const box = {
      claim,
      min: claim,
      max: claim,
      ceiling: 4000,
      floors: floor === undefined ? [] : [floor],
      clamps: [],
    };
    return { share, original: cpu(request), box, kept };
  };
  const absent = (request: number, original: number | undefined, reason: ExclusionReason) => ({
    input: {
      pod: testPod('away', { request }),
      measured: undefined,
      original: original === undefined ? undefined : cpu(original),
    },
    reason,
  });
  const steady = { sum: 500, nominal: 1710 };
  const grace: LayerFloor = { layer: 'grace', reason: 'StartupGrace', min: 700 };
  const step: LayerFloor = { layer: 'step', reason: 'StepLimit', min: 765 };

  test.each<[string, Parameters<typeof purseOf>[0], Parameters<typeof purseOf>[1], number]>([
    ['what users asked for, where more is held', [seat(900, 100), seat(400, 400)], [], 500],
    ['less is held: there is room', [seat(300, 100), seat(100, 400)], [], 500],
    ['a few millicores more are not worth a write', [seat(109, 100), seat(400, 400)], [], 509],
    ['ten are', [seat(110, 100), seat(400, 400)], [], 500],
    ['pods that came with more than the margin leaves have it', [seat(900, 900), seat(850, 900)], [], 1750],
    ['a claim above what was asked for', [seat(900, 100, { claim: 800 }), seat(400, 400)], [], 1200],
    ['what cannot be lowered', [seat(900, 100, { kept: 900 }), seat(400, 400)], [], 1300],
    ['what one keeps while it starts', [seat(900, 100, { floor: grace }), seat(400, 400)], [], 1100],
    ['smoothness keeps nothing', [seat(900, 100, { floor: step }), seat(400, 400)], [], 500],
    ['what one lent that will take part again', [seat(900, 100)], [absent(200, 600, 'ResizeUnsupported')], 500],
    ['and somebody else sizes now', [seat(900, 100), seat(400, 400)], [absent(200, 600, 'ForeignWriter')], 900],
    ['and has got back since', [seat(900, 100), seat(400, 400)], [absent(600, 600, 'ForeignWriter')], 500],
    ['not of one that goes', [seat(900, 100), seat(400, 400)], [absent(200, 600, 'Terminating')], 500],
    ['nor of one that opted out', [seat(900, 100), seat(400, 400)], [absent(200, 600, 'Excluded')], 500],
    ['nor where nobody knows', [seat(900, 100), seat(400, 400)], [absent(200, undefined, 'ForeignWriter')], 500],
  ])('%s', (_name, seats, away, wanted) => {
    expect(purseOf(seats, away, steady, rules)).toBe(wanted);
  });

  test('a share of what is free beyond, however much the system takes at the moment; limits are no requests', () => {
    const seats = [seat(1700, 100), seat(400, 400)];
    expect(purseOf(seats, [], { sum: 600, nominal: 1700 }, { ...rules, surplusShare: 0.5 })).toBe(1100);
    expect(purseOf(seats, [], { sum: 600, nominal: 1700 }, { ...rules, apply: 'limits' })).toBe(600);
  });
});

test('where nobody has left nothing is lowered, however little is used', () => {
  const pods = [testPod('a', { request: 1100 }), testPod('b', { request: 650 })];
  const found = planNode(
    testInput(
      pods.map((pod) => ({ pod, measured: using(5) })),
      { rules },
    ),
  );
  expect(found.writes).toEqual([]);
});

describe('a pod that pays leaves', () => {
  const marks = { 'mbcas.io/workload-type': 'latency' };
  const base = { rules, facts: { limitRanges: [], hpas: [], pdbs: [] }, quota: undefined, usesHints: true, seed: 1 };
  const total = (pods: readonly AllocationPod[]): number => pods.reduce((sum, pod) => sum + sizeOf(pod).request, 0);
  /** The pods after two minutes. */
  const settle = (world: World): AllocationPod[] => {
    let pods = world.pods;
    run(world, 60, (written) => {
      pods = [...written];
    });
    return pods;
  };

  test('the other has again what its user asked for, by one write', () => {
    const [busy, payer] = [testPod('busy', { request: 200, marks }), testPod('payer', { request: 1400 })];
    const both = settle({ ...base, pods: [busy, payer], loads: [900, 20] });
    expect(sizeOf(both[0] ?? busy).request).toBeGreaterThan(700);
    expect(total(both)).toBeLessThanOrEqual(1600);
    let writes = 0;
    const alone = { ...base, pods: both.slice(0, 1), loads: [900], originals: [sizeOf(busy)] };
    run(alone, 60, (pods) => {
      writes++;
      expect(total(pods)).toBe(200);
    });
    expect(writes).toBe(1);
  });

  const row = fc.record({
    request: fc.integer({ min: 50, max: 500 }),
    load: fc.integer({ min: 0, max: 1500 }),
    weight: fc.constantFrom('1', '2', '4'),
    advice: fc.option(fc.integer({ min: 100, max: 600 }), { nil: undefined }),
    stays: fc.boolean(),
  });

  test('for any pods of which some leave: no more is requested in the end than was asked for, and then nothing is written', () => {
    let given = 0;
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 6 }), fc.nat(), (rows, seed) => {
        const pods = rows.map(({ request, weight }, index) =>
          testPod(`p${index}`, { request, marks: { 'mbcas.io/weight': weight } }),
        );
        const originals = pods.map(sizeOf);
        const loads = rows.map(({ load }) => load);
        const advice = rows.map((each) => each.advice);
        const then = settle({ ...base, seed, pods, loads, advice });
        const staying = <Value>(values: readonly Value[]): Value[] => values.filter((_, index) => rows[index]?.stays);
        const left = { pods: staying(then), loads: staying(loads), advice: staying(advice) };
        const claims = staying(rows).reduce((sum, each) => sum + Math.max(each.request, each.advice ?? 0), 0);
        const asked = Math.min(1710, claims) + defaultAllocationRules.write.minChange;
        if (total(left.pods) > asked) given++;
        let last: readonly AllocationPod[] = left.pods;
        const writes = run({ ...base, ...left, seed, originals: staying(originals) }, 120, (after) => {
          last = after;
        });
        expect(total(last)).toBeLessThanOrEqual(asked);
        expect(writes.slice(-30).every((count) => count === 0)).toBe(true);
      }),
      { numRuns: 150 },
    );
    expect(given).toBeGreaterThan(20);
  });
});
