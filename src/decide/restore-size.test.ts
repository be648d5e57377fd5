import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { originalsKeys } from '../api/annotations-sizing.ts';
import { originalsText } from '../model/original-sizes.ts';
import { applyChanges } from '../model/pod-size.ts';
import type { ContainerSize } from '../model/sizing-records.ts';
import { aNode, GIB } from '../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB, smallSize } from '../model/testing/sizing-records.ts';
import { planRestore } from './restore-size.ts';
import type { SizingEngine } from './size-decision.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const node = aNode('n1', undefined, { allocatable: { cpuMillis: 4000, memoryBytes: 8 * GIB } });

/** A pod that had `before` and has `now`. */
function podOf(before: ContainerSize, now: ContainerSize, engine: SizingEngine = 'rightsizing') {
  const text = originalsText([aContainer({ size: before })], engine === 'allocation');
  const pod = aSizedPod(owner, 'web-1', {
    containers: [aContainer({ size: now })],
    marks: { [originalsKeys[engine]]: text },
  });
  return { pod, sizing: pod.sizing };
}
const plan = (before: ContainerSize, now: ContainerSize, engine: SizingEngine = 'rightsizing') =>
  planRestore(podOf(before, now, engine), engine, node, aSizedWorkload());

describe('what is put back', () => {
  test('all that differs, in one decision of the engine', () => {
    expect(plan(smallSize, { ...smallSize, cpuRequest: 300, memoryRequest: 96 * MIB })).toMatchObject({
      kind: 'resize',
      lifted: [],
      decision: {
        engine: 'rightsizing',
        isRestore: true,
        workloadUid: 'uid-web',
        changes: [{ container: 'app', to: { cpuRequest: 200, memoryRequest: 128 * MIB } }],
      },
    });
  });

  test('a limit that was not there is raised to what the node has, and that is said', () => {
    const restore = plan({ cpuRequest: 200 }, { cpuRequest: 300, cpuLimit: 330 });
    expect(restore).toMatchObject({
      kind: 'resize',
      lifted: [{ container: 'app', resource: 'cpu' }],
      decision: {
        changes: [{ container: 'app', to: { cpuRequest: 200, cpuLimit: 4000 } }],
        why: { numbers: { lifted: 1 } },
      },
    });
    expect(restore.kind === 'resize' && restore.decision.why.summary).toContain('cannot be removed');
  });

  test.each([
    ['is not known', undefined],
    ['reports nothing of it', { ...node, allocatable: { cpuMillis: 0, memoryBytes: 0 } }],
  ])('a limit that was not there is left for later while the node %s, and the annotation with it', (_, now) => {
    const added = podOf({ cpuRequest: 200 }, { cpuRequest: 300, cpuLimit: 330 }, 'allocation');
    expect(planRestore(added, 'allocation', now, undefined)).toEqual({ kind: 'unknown', resource: 'cpu' });
    const memory = podOf({ cpuRequest: 200 }, { cpuRequest: 200, memoryLimit: GIB });
    expect(planRestore(memory, 'rightsizing', now, undefined)).toEqual({ kind: 'unknown', resource: 'memory' });
    const grown = podOf(smallSize, { ...smallSize, cpuRequest: 300 }, 'allocation');
    expect(planRestore(grown, 'allocation', now, undefined)).toMatchObject({ kind: 'resize', lifted: [] });
  });

  test('allocation puts CPU back and leaves memory to rightsizing', () => {
    const now = { ...smallSize, cpuRequest: 300, memoryRequest: 64 * MIB };
    expect(plan(smallSize, now, 'allocation')).toMatchObject({
      decision: { engine: 'allocation', changes: [{ container: 'app', to: { cpuRequest: 200 } }] },
    });
    expect(plan({ cpuRequest: 200 }, { cpuRequest: 200, memoryLimit: GIB }, 'allocation')).toEqual({
      kind: 'nothing',
      isKept: true,
    });
  });

  test('by allocation no memory, whatever somebody wrote into its annotation', () => {
    const marks = { [originalsKeys.allocation]: originalsText([aContainer({ size: smallSize })], false) };
    const now = { ...smallSize, cpuRequest: 300, memoryRequest: 64 * MIB };
    const pod = aSizedPod(owner, 'web-1', { containers: [aContainer({ size: now })], marks });
    const changes = [{ container: 'app', to: { cpuRequest: 200 } }];
    const restore = planRestore({ pod, sizing: pod.sizing }, 'allocation', node, undefined);
    expect(restore.kind === 'resize' && restore.decision.changes).toEqual(changes);
  });
});

test('a request that a container did not have goes down to next to nothing, as it cannot be removed', () => {
  const restore = plan({}, { cpuRequest: 10, cpuLimit: 30 }, 'allocation');
  expect(restore).toMatchObject({ decision: { changes: [{ to: { cpuRequest: 1, cpuLimit: 4000 } }] } });
  expect(plan({}, { cpuRequest: 1, cpuLimit: 4000 }, 'allocation')).toEqual({ kind: 'nothing', isKept: true });
});

describe('nothing to do', () => {
  test('for a pod that was never changed, or is as it was', () => {
    const pod = aSizedPod(owner, 'web-1');
    expect(planRestore({ pod, sizing: pod.sizing }, 'rightsizing', node, undefined)).toEqual({
      kind: 'nothing',
      isKept: false,
    });
    expect(plan(smallSize, smallSize)).toEqual({ kind: 'nothing', isKept: true });
  });

  test('for a text that somebody spoilt: it is told', () => {
    const pod = aSizedPod(owner, 'web-1', { marks: { 'optipod.io/original-resources': 'spoilt' } });
    expect(planRestore({ pod, sizing: pod.sizing }, 'rightsizing', node, undefined)).toEqual({
      kind: 'unreadable',
      key: 'optipod.io/original-resources',
    });
  });

  test('the engines do not read each other’s originals', () => {
    expect(
      planRestore(podOf(smallSize, { ...smallSize, cpuRequest: 1 }, 'allocation'), 'rightsizing', node, undefined),
    ).toEqual({
      kind: 'nothing',
      isKept: false,
    });
  });
});

test('for any sizes, restoring once is restoring for good', () => {
  const amount = fc.integer({ min: 1, max: 4000 });
  const size = fc
    .record({ cpuRequest: amount, memoryRequest: amount })
    .chain((requests) =>
      fc
        .record({ cpuLimit: fc.option(amount, { nil: undefined }) })
        .map(({ cpuLimit }) => ({ ...requests, ...(cpuLimit && { cpuLimit }) })),
    );
  fc.assert(
    fc.property(size, size, (before, now) => {
      const pod = podOf(before, now);
      const first = planRestore(pod, 'rightsizing', node, undefined);
      if (first.kind !== 'resize') return;
      const containers = applyChanges(pod.sizing.containers, first.decision.changes);
      expect(containers[0]?.size).toMatchObject(before);
      const again = planRestore(
        { pod: pod.pod, sizing: { ...pod.sizing, containers } },
        'rightsizing',
        node,
        undefined,
      );
      expect(again).toEqual({ kind: 'nothing', isKept: true });
    }),
  );
});
