import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createReadyPods } from './ready-pods.ts';

const pod = (uid: string, priority = 0, createdSecond = 0, more: object = {}): Pod => ({
  metadata: { uid, creationTimestamp: new Date(createdSecond * 1000).toISOString() },
  spec: { containers: [], priority, ...more },
});

/** In the order in which they are taken after they were all added. */
function taken(pods: readonly Pod[], ready = createReadyPods()): readonly string[] {
  for (const each of pods) ready.add(each);
  const order: string[] = [];
  for (let uid = ready.take(); uid !== undefined; uid = ready.take()) order.push(uid);
  return order;
}

test('the highest priority goes first, then the oldest, then the first to arrive', () => {
  const pods = [pod('young', 0, 9), pod('old', 0, 1), pod('first', 5, 3), pod('second', 5, 3)];
  expect(taken(pods)).toEqual(['first', 'second', 'old', 'young']);
});

test('the two system classes are known where the server has not resolved them', () => {
  const critical: Pod = {
    metadata: { uid: 'critical' },
    spec: { containers: [], priorityClassName: 'system-node-critical' },
  };
  expect(taken([pod('important', 1_000_000), critical])).toEqual(['critical', 'important']);
});

test('a pod that is there already keeps its place, and is taken once', () => {
  expect(taken([pod('a', 1), pod('b', 2), pod('a', 3)])).toEqual(['b', 'a']);
});

test('a pod that left and came back has a new place', () => {
  const ready = createReadyPods();
  for (const each of [pod('a'), pod('b')]) ready.add(each);
  ready.remove('a');
  expect(taken([pod('a')], ready)).toEqual(['b', 'a']);
});

test('for any arrivals pods are taken in order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 40 }), (arrivals) => {
      const pods = arrivals.map(([priority, second], index) => pod(`p${index}`, priority, second));
      const expected = arrivals
        .map(([priority, second], index) => ({ priority, second, index }))
        .sort((left, right) => right.priority - left.priority || left.second - right.second || left.index - right.index)
        .map(({ index }) => `p${index}`);
      expect(taken(pods)).toEqual(expected);
    }),
  );
});
