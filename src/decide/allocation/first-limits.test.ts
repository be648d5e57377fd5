/** With `apply: limits`: the first limit of a pod, which takes from it whatever it says. */
import { expect, test } from 'vitest';
import { planNode } from './plan-node.ts';
import { T0, testInput, testNode, testPod, testRules, using } from './testing/pods.ts';

const rules = { ...testRules, apply: 'limits' } as const;
const pressed = testNode({
  conditions: [...(testNode().conditions ?? []), { type: 'MemoryPressure', status: 'True', since: T0 - 10_000 }],
});
const inProgress = { resize: { pending: undefined, inProgress: { error: undefined, since: T0 - 1000 } } };

test.each([
  ['on a node under pressure', {}, pressed],
  ['while a resize of its memory is on its way', inProgress, testNode()],
])('%s it leaves room for what the pod uses, and is not what it requests', (_name, change, node) => {
  const pod = testPod('new', { request: 100 }, change);
  const { pods } = planNode(testInput([{ pod, measured: using(300) }], { rules, node }));
  expect(pods[0]?.target.limit).toBeGreaterThan(300);
});

test('integration 3: one that has a limit does not grow above it under pressure', () => {
  const pod = testPod('old', { request: 100, limit: 250 });
  const { pods } = planNode(testInput([{ pod, measured: using(250, 1) }], { rules, node: pressed }));
  expect(pods[0]?.target.limit).toBe(250);
});
