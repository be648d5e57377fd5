import { expect, test } from 'vitest';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import { ReplicaWatches } from './replica-watches.ts';

const change = anOngoingChange([], []);

test('a change of a replica is watched until it is watched no more, or the replica has no size of its own', () => {
  const watches = new ReplicaWatches();
  for (const replica of ['0', '1', '2']) watches.set(replica, change);
  watches.set('0', undefined);
  expect([...watches.ongoing.keys()]).toEqual(['1', '2']);
  watches.keepOnly(new Map([['2', 'sized']]));
  expect([...watches.ongoing.keys()]).toEqual(['2']);
});

test('how long a replica has had no pod goes on until it has one, or no size of its own', () => {
  const watches = new ReplicaWatches();
  const known = new Map([['0', 'sized']]);
  expect([5, 9].map((now) => watches.noteAbsent('0', now))).toEqual([0, 4]);
  watches.keepOnly(known);
  expect(watches.noteAbsent('0', 11)).toBe(6);
  watches.notePresent('0');
  expect(watches.noteAbsent('0', 12)).toBe(0);
  watches.keepOnly(new Map());
  expect(watches.noteAbsent('0', 20)).toBe(0);
});
