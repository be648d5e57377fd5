import { expect, test } from 'vitest';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { aNode, aStatefulSet } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createInPlaceProblem, NONE_RUNS } from './in-place-problem.ts';

const db = aSizedWorkload({ kind: 'StatefulSet', name: 'db' });
const owner = aStatefulSet({ uid: db.uid, name: 'db' });
const ofAll = { hasOwnSizes: false, mayRecreate: true };
const ends = [aContainerStatus(aContainer(), { running: false, restartCount: 3 })];

test.each<
  [string, { refused?: string; served?: boolean; isCrashing?: boolean }, string | undefined, string | undefined]
>([
  ['nothing', {}, undefined, undefined],
  ['what one pod was refused', { refused: 'too large for its node' }, 'too large for its node', undefined],
  ['an API server without it', { served: false }, 'the API server', 'the API server'],
  ['pods that only end', { isCrashing: true }, 'its containers end', 'its containers end'],
])('%s speaks against resizes in place: of all, and where replicas have sizes of their own', (_, facts, all, own) => {
  const { refused, served = true, isCrashing = false } = facts;
  const sizing = isCrashing ? { statuses: ends } : {};
  const pods = [aSizedPod(owner, 'db-0', sizing, { uid: 'db-0', nodeName: 'node-1' })];
  const problem = createInPlaceProblem({
    view: createSizingSnapshot({ workloads: [db], pods, nodes: [aNode('node-1', undefined)] }),
    servesResize: () => served,
    actuator: { needsNewPods: () => refused, keepsMemoryLimits: () => false, keepsDying: () => false },
  });
  for (const [found, expected] of [
    [problem({ ...ofAll, workload: db }), all],
    [problem({ ...ofAll, workload: db, hasOwnSizes: true }), own],
  ]) {
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(expected);
  }
});

test('in a rollout, pods that only end are no obstacle: those to come are given more all the same', () => {
  const pods = [aSizedPod(owner, 'db-0', { statuses: ends }, { uid: 'db-0', nodeName: 'node-1' })];
  const rolling = { ...db, isRollingOut: true };
  const problem = createInPlaceProblem({
    view: createSizingSnapshot({ workloads: [rolling], pods, nodes: [aNode('node-1', undefined)] }),
    servesResize: () => true,
    actuator: { needsNewPods: () => undefined, keepsMemoryLimits: () => false, keepsDying: () => false },
  });
  expect(problem({ ...ofAll, workload: rolling })).toBeUndefined();
});

test('nor are they where the policy allows no new pods', () => {
  const pods = [aSizedPod(owner, 'db-0', { statuses: ends }, { uid: 'db-0', nodeName: 'node-1' })];
  const problem = createInPlaceProblem({
    view: createSizingSnapshot({ workloads: [db], pods, nodes: [aNode('node-1', undefined)] }),
    servesResize: () => true,
    actuator: { needsNewPods: () => undefined, keepsMemoryLimits: () => false, keepsDying: () => false },
  });
  const found = [true, false].map((mayRecreate) => problem({ ...ofAll, workload: db, mayRecreate }));
  expect(found).toEqual([NONE_RUNS, undefined]);
});

test.each([
  ['memory limits that stay as they are', 'keepsMemoryLimits'],
  ['a container that was killed again with more memory', 'keepsDying'],
] as const)('nor is %s, where the policy allows no new pods for it', (_, cause) => {
  const nothing = { keepsMemoryLimits: () => false, keepsDying: () => false };
  const problem = createInPlaceProblem({
    view: createSizingSnapshot({ workloads: [db] }),
    servesResize: () => true,
    actuator: { needsNewPods: () => 'as one was told', ...nothing, [cause]: () => true },
  });
  const found = [true, false].map((mayRecreate) => problem({ ...ofAll, workload: db, mayRecreate }));
  expect(found).toEqual(['as one was told', undefined]);
});
