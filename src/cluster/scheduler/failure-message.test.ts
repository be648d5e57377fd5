import { expect, test } from 'vitest';
import type { Condition } from '../objects.ts';
import { failureCondition, failureMessage, prefilterMessage, type Refusal } from './failure-message.ts';

const refusal = (isUnresolvable: boolean, ...reasons: string[]): Refusal => ({ reasons, isUnresolvable });

// Texts as kube-scheduler 1.37 writes them.
test.each<[string, Refusal[], string | undefined, string]>([
  [
    'groups and sorts reasons',
    [
      ...Array.from({ length: 3 }, () => refusal(true, "node(s) didn't match Pod's node affinity/selector")),
      ...Array.from({ length: 3 }, () => refusal(false, 'Insufficient cpu')),
    ],
    undefined,
    "0/6 nodes are available: 3 Insufficient cpu, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/6 nodes are available: 3 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.",
  ],
  [
    'names every scarce resource of a node',
    [refusal(false, 'Insufficient cpu', 'Insufficient memory')],
    undefined,
    '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  ],
  [
    'sorts counts as texts',
    [...Array.from({ length: 10 }, () => refusal(true, 'b')), ...Array.from({ length: 9 }, () => refusal(true, 'a'))],
    'Never',
    '0/19 nodes are available: 10 b, 9 a. preemption: not eligible due to preemptionPolicy=Never.',
  ],
  ['says so when there is no node', [], undefined, 'no nodes available to schedule pods'],
])('%s', (_, refusals, policy, expected) => {
  expect(failureMessage(refusals, policy)).toBe(expected);
});

test('a pod refused before any node is looked at', () => {
  expect(prefilterMessage(2, 'persistentvolumeclaim "data" not found', true)).toBe(
    '0/2 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  );
});

test.each<[string, Partial<Condition> | undefined, string]>([
  ['a pod that has none yet', undefined, '1970-01-01T00:01:00Z'],
  ['a pod that was scheduled', { status: 'True', lastTransitionTime: '1970-01-01T00:00:01Z' }, '1970-01-01T00:01:00Z'],
  [
    'a pod that fits nowhere for another reason',
    { status: 'False', message: 'no room', lastTransitionTime: '1970-01-01T00:00:01Z' },
    '1970-01-01T00:00:01Z',
  ],
])('the condition of %s', (_, before, lastTransitionTime) => {
  const conditions = before === undefined ? [] : [{ type: 'PodScheduled', status: 'True', ...before }];
  expect(failureCondition({ status: { conditions } }, 'no node', 60_000)).toEqual({
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: 'no node',
    lastTransitionTime,
  });
});

test('a condition that says so already is not written again', () => {
  const condition = { type: 'PodScheduled', status: 'False', message: 'no node' };
  expect(failureCondition({ status: { conditions: [condition] } }, 'no node', 60_000)).toBeUndefined();
});
