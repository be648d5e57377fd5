import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byReplica, MAX_SIZED_REPLICAS, mayHaveOwn, replicaOf, replicaRef } from './replica.ts';

const db = { kind: 'StatefulSet', namespace: 'shop', name: 'db' };

describe('replicaOf', () => {
  test.each<[string, { kind: string; name: string }, string, string | undefined, string | undefined]>([
    ['the ordinal', db, 'db-7', 'node-1', '7'],
    ['the first', db, 'db-0', undefined, '0'],
    ['another set of a longer name', db, 'db-blue-7', undefined, undefined],
    ['no number as Kubernetes writes it', db, 'db-07', undefined, undefined],
    ['no ordinal', db, 'db-', undefined, undefined],
    ['a pod that was adopted', db, 'other-7', undefined, undefined],
    ['the node', { kind: 'DaemonSet', name: 'agent' }, 'agent-x2k7p', 'node-1', 'node-1'],
    ['no node yet', { kind: 'DaemonSet', name: 'agent' }, 'agent-x2k7p', undefined, undefined],
    ['no identity', { kind: 'Deployment', name: 'web' }, 'web-7', 'node-1', undefined],
  ])('%s', (_, workload, name, nodeName, replica) => {
    expect(replicaOf(workload, { name, nodeName })).toBe(replica);
  });

  test('for any names, no two pods of a set are the same replica, and no two replicas share what is remembered', () => {
    const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
    fc.assert(
      fc.property(label, label, fc.nat(500), fc.nat(500), (one, other, first, second) => {
        const of = (name: string, ordinal: number) => {
          const workload = { ...db, name };
          const replica = replicaOf(workload, { name: `${name}-${ordinal}`, nodeName: undefined });
          return replicaRef(workload, replica ?? '').name;
        };
        expect(of(one, first) === of(other, second)).toBe(one === other && first === second);
        expect(of(one, first)).not.toBe(one);
      }),
      { numRuns: 200 },
    );
  });
});

test('replicas are in the order of their numbers, nodes in that of their names', () => {
  expect(['10', '9', '0', '100'].toSorted(byReplica)).toEqual(['0', '9', '10', '100']);
  expect(['node-b', 'node-10', 'node-9'].toSorted(byReplica)).toEqual(['node-10', 'node-9', 'node-b']);
  expect(['10', 'b', '9'].toSorted(byReplica)).toHaveLength(3);
});

test('for any replicas, as many as possible may have a size of their own, and whoever has one is among them', () => {
  const ordinals = fc.uniqueArray(fc.nat(2000), { minLength: 0, maxLength: 300 }).map((all) => all.map(String));
  fc.assert(
    fc.property(ordinals, fc.uniqueArray(fc.nat(2000), { maxLength: MAX_SIZED_REPLICAS }), (present, known) => {
      const own = new Map(known.map((each) => [String(each), {}]));
      const may = mayHaveOwn(present, own);
      expect(may).toHaveLength(Math.min(present.length, MAX_SIZED_REPLICAS));
      expect(new Set(may).size).toBe(may.length);
      expect(present.filter((each) => own.has(each)).every((each) => may.includes(each))).toBe(true);
      // Another order of the pods makes no other choice.
      expect(new Set(mayHaveOwn(present.toReversed(), own))).toEqual(new Set(may));
    }),
    { numRuns: 100 },
  );
});
