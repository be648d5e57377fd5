import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChanges, type SizeChange, sizeKeys } from '../../model/pod-size.ts';
import type { PodRecord } from '../../model/records.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { givenInRollout, harmedParts, helpInRollout } from './rollout-help.ts';
import { partsOf } from './side-by-side.ts';

const replicaSet = aReplicaSet(aDeployment());
const inForce = [aContainer(), aContainer({ name: 'proxy' })];
const killed: Partial<ContainerStatusRecord> = {
  lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 10_000 },
};
const late: Partial<PodRecord> = { ready: false, readyChangedAt: NOON - 600_000 };
const unready: Partial<ContainerStatusRecord> = { ready: false };

interface Given {
  /** Who resized it. */
  readonly by?: string;
  readonly app?: Partial<ContainerStatusRecord>;
  readonly has?: readonly SizeChange[];
  readonly pod?: Partial<PodRecord>;
}

function aPod({ app = {}, has = [], pod = {}, by }: Given): SizedPod {
  const containers = applyChanges(inForce, has);
  const statuses = containers.map((each) => aContainerStatus(each, each.name === 'app' ? app : {}));
  const sizing = { containers, statuses, sizeManagers: by === undefined ? [] : [by] };
  const record = aSizedPod(replicaSet, 'web-1', sizing, { uid: 'web-1', ...pod });
  return { pod: record, sizing: record.sizing };
}

const of = (container: string, to: SizeChange['to']): SizeChange => ({ container, to });
const moreMemory = of('app', { memoryRequest: 200 * MIB, memoryLimit: 400 * MIB });
const moreCpu = of('app', { cpuRequest: 300 });
const both = of('app', { ...moreCpu.to, ...moreMemory.to });
const lessMemory = of('app', { memoryRequest: 64 * MIB });

describe('what may begin during a rollout', () => {
  test.each<[string, Given, readonly SizeChange[], readonly SizeChange[]]>([
    ['nothing where all is well', {}, [both], []],
    ['more memory for what was killed for want of it, and nothing else', { app: killed }, [both], [moreMemory]],
    ['nothing less, whatever happens', { app: killed }, [lessMemory], []],
    [
      'no raise that comes with less of the same',
      { app: killed },
      [of('app', { memoryRequest: 200 * MIB, memoryLimit: 200 * MIB })],
      [],
    ],
    ['nothing for the others of its pod', { app: killed }, [of('proxy', moreMemory.to)], []],
    [
      'nothing where the pod has other sizes: they say nothing of these',
      { app: killed, has: [lessMemory] },
      [both],
      [],
    ],
    [
      'what a pod needs that was given more before a change of leader, and not enough',
      { app: killed, has: [moreMemory], by: 'optipod' },
      [of('app', { memoryRequest: 300 * MIB, memoryLimit: 600 * MIB })],
      [of('app', { memoryRequest: 300 * MIB, memoryLimit: 600 * MIB })],
    ],
    [
      'what such a pod has already: it is yet to be put in force',
      { app: killed, has: [moreMemory], by: 'optipod' },
      [moreMemory],
      [moreMemory],
    ],
    ['nothing where somebody else gave it more', { app: killed, has: [moreMemory], by: 'vpa' }, [both], []],
    ['nothing where we gave it less', { app: killed, has: [lessMemory], by: 'optipod' }, [both], []],
    ['nothing for a pod that ends', { app: killed, pod: { deletingAt: NOON } }, [both], []],
    [
      'nothing for a crash of another kind',
      { app: { lastTermination: { reason: 'Error', exitCode: 1, finishedAt: NOON } } },
      [both],
      [],
    ],
    ['both for what runs and has not got ready for ten minutes', { app: unready, pod: late }, [both], [both]],
    ['nothing before that', { app: unready, pod: { ...late, readyChangedAt: NOON - 599_999 } }, [both], []],
    ['nothing for what is ready while another of the pod is not', { pod: late }, [both], []],
    ['nothing for what does not run: it lacks no CPU', { app: { ...unready, running: false }, pod: late }, [both], []],
    [
      'memory alone for what was killed, however late',
      { app: { ...killed, ...unready, running: false }, pod: late },
      [both],
      [moreMemory],
    ],
  ])('%s', (_, given, due, expected) => {
    const pod = aPod(given);
    expect(helpInRollout(due, inForce, [pod], NOON)).toEqual({
      raises: expected,
      pods: expected.length === 0 ? [] : [pod],
    });
  });

  test('a pod that was never ready counts from its creation', () => {
    const pod = aPod({ app: unready, pod: { ready: false, readyChangedAt: undefined, createdAt: NOON - 600_000 } });
    expect(harmedParts(pod, NOON)).toHaveLength(2);
  });

  test('the pods that show it are tried first; the others are not touched', () => {
    const [well, ill] = [aPod({}), aPod({ app: killed })];
    expect(helpInRollout([both], inForce, [well, ill], NOON).pods).toEqual([ill]);
  });

  test('a limit that is not in force is no difference: it came of a LimitRange', () => {
    const { memoryLimit: _, ...size } = inForce[0]?.size ?? {};
    const pod = aPod({ app: killed });
    const raise = of('app', { memoryRequest: 200 * MIB });
    expect(helpInRollout([raise], [aContainer({ size })], [pod], NOON).raises).toEqual([raise]);
  });
});

describe('what a pod is given of the sizes in force', () => {
  test.each<[string, Given, readonly SizeChange[], readonly SizeChange[]]>([
    ['nothing where it is well', {}, [both], []],
    ['its memory, where it was killed for want of it', { app: killed }, [both], [moreMemory]],
    ['nothing that would be less', { app: killed }, [lessMemory], []],
  ])('%s', (_, given, lacks, expected) => {
    expect(givenInRollout(aPod(given), lacks, NOON)).toEqual(expected);
  });
});

describe('for any pods and any change that is due', () => {
  const amount = fc.option(fc.integer({ min: 1, max: 800 }), { nil: undefined });
  const anyChange = fc
    .record({
      container: fc.constantFrom('app', 'proxy'),
      cpu: amount,
      cpuLimit: amount,
      memory: amount,
      limit: amount,
    })
    .map(({ container, cpu, cpuLimit, memory, limit }) =>
      of(container, {
        ...(cpu !== undefined && { cpuRequest: cpu }),
        ...(cpuLimit !== undefined && { cpuLimit }),
        ...(memory !== undefined && { memoryRequest: memory * MIB }),
        ...(limit !== undefined && { memoryLimit: limit * MIB }),
      }),
    );
  const changes = fc.uniqueArray(anyChange, { selector: ({ container }) => container, maxLength: 2 });
  const anyPod = fc
    .record({
      isKilled: fc.boolean(),
      running: fc.boolean(),
      ready: fc.boolean(),
      isLate: fc.boolean(),
      deletingAt: fc.constantFrom(undefined, NOON),
      has: fc.oneof(fc.constant([]), changes),
    })
    .map(({ isKilled, running, ready, isLate, deletingAt, has }) =>
      aPod({ app: { running, ready, ...(isKilled && killed) }, has, pod: { ready, deletingAt, ...(isLate && late) } }),
    );

  test('only more is given, only of what harm is seen of, and only as it is due', () => {
    fc.assert(
      fc.property(changes, fc.array(anyPod, { maxLength: 4 }), (due, pods) => {
        const { raises, pods: proofs } = helpInRollout(due, inForce, pods, NOON);
        const harmed = pods.flatMap((pod) => harmedParts(pod, NOON));
        expect(harmed).toEqual(expect.arrayContaining([...partsOf(raises)]));
        for (const { container, to } of raises) {
          const [had, asked] = [inForce, due.map(({ container: name, to: size }) => ({ name, size }))].map(
            (list) => list.find(({ name }) => name === container)?.size ?? {},
          );
          for (const key of sizeKeys) {
            const next = to[key];
            if (next === undefined) continue;
            expect(next).toBe(asked?.[key]);
            expect(next).toBeGreaterThanOrEqual(had?.[key] ?? 0);
          }
        }
        expect(raises.length > 0).toBe(proofs.length > 0);
        for (const pod of pods) {
          for (const { container, to } of givenInRollout(pod, due, NOON)) {
            const has = pod.sizing.containers.find(({ name }) => name === container)?.size ?? {};
            for (const key of sizeKeys)
              expect(to[key] ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(has[key] ?? 0);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
