import { describe, expect, test } from 'vitest';
import type { AllocationPod } from './allocation-pod.ts';
import { sharedCapacity } from './node-capacity.ts';
import type { Absent } from './node-input.ts';
import { testNode, testPod } from './testing/pods.ts';

const pods = (...requests: number[]) => requests.map((request, index) => testPod(`p${index}`, { request }));
const absent = (...requests: number[]): Absent[] =>
  pods(...requests).map((pod) => ({ input: { pod, measured: undefined }, reason: 'Excluded' }));

describe('what managed pods share', () => {
  test.each([
    ['a margin of 5 %', testNode(), absent(), 1710],
    ['others keep what they request', testNode(), absent(300, 200), 1210],
    ['the system takes what was reserved for it', testNode({ systemUse: 200 }), absent(), 1710],
    ['it takes more, within the margin', testNode({ systemUse: 280 }), absent(), 1710],
    ['it takes more than that', testNode({ systemUse: 330 }), absent(), 1670],
    ['nobody measured it', testNode({ systemUse: undefined }), absent(), 1710],
    ['others request more than there is', testNode(), absent(1500, 1500), 0],
  ])('%s', (_name, node, others, capacity) => {
    const found = sharedCapacity(node, [], others, 0.05);
    expect(found.capacity).toBe(capacity);
    expect(found.clamps).toHaveLength(capacity === 1670 ? 1 : 0);
    expect(found.nominal).toBe(capacity === 1670 ? 1710 : capacity);
  });

  test('what the system takes beyond the margin is told', () => {
    expect(sharedCapacity(testNode({ systemUse: 330 }), [], [], 0.05).clamps).toEqual([
      { reason: 'SystemUse', what: 'capacity', before: 1710, after: 1670 },
    ]);
  });

  test.each<[string, Partial<Absent>, Partial<AllocationPod>, number]>([
    ['what it came with, as it gets that back', {}, {}, 1110],
    ['and its overhead', {}, { overhead: 60 }, 1050],
    ['what it has, where others left it out', { reason: 'ForeignWriter' }, {}, 1510],
    ['what it has, where somebody else sizes it', {}, { sizeManagers: ['kubectl-patch'] }, 1510],
  ])('of a pod that opted out is kept %s', (_name, change, more, capacity) => {
    const input = {
      pod: testPod('away', { request: 200 }, { sizeManagers: ['mbcas-controller'], ...more }),
      measured: undefined,
      original: { request: 600, limit: undefined },
    };
    expect(sharedCapacity(testNode(), [], [{ input, reason: 'Excluded', ...change }], 0.05).capacity).toBe(capacity);
  });

  test('the overhead of managed pods is not to share', () => {
    expect(sharedCapacity(testNode(), [testPod('a', { request: 100 }, { overhead: 60 })], [], 0.05).capacity).toBe(
      1650,
    );
  });

  test('allocation bug 19: room stays for the system, whatever pods want (k/k#125409)', () => {
    const wanting = pods(900, 900, 900);
    const { allocatable, reserved } = testNode();
    expect(sharedCapacity(testNode(), wanting, [], 0.05).capacity).toBe(0.95 * allocatable);
    const busy = testNode({ systemUse: reserved + 400 });
    expect(sharedCapacity(busy, wanting, [], 0.05).capacity).toBe(allocatable - 400);
  });

  test('mbcas bug 5: allocatable of this node less what others request, not a constant of the cluster', () => {
    expect(sharedCapacity(testNode({ allocatable: 900 }), [], absent(400), 0.05).capacity).toBe(455);
  });
});
