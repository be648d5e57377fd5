import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newestLive, newestOf } from './newest-pod.ts';
import type { PodRecord } from './records.ts';
import { aDeployment, aPod, aReplicaSet, NOON } from './testing/records.ts';

const made = (name: string, createdAt: number, changes: Partial<PodRecord> = {}) => ({
  pod: aPod(aReplicaSet(aDeployment()), name, { createdAt, ...changes }),
});
type Made = ReturnType<typeof made>;
const nameOf = (each: Made | undefined): string | undefined => each?.pod.name;

describe('the pod that tells what is added to others', () => {
  test('is the newest that is there, wherever it stands in the list', () => {
    const [old, young] = [made('web-1', 1), made('web-2', 2)];
    expect([newestLive([old, young]), newestLive([young, old])].map(nameOf)).toEqual(['web-2', 'web-2']);
  });

  test('may wait for a node still, but is neither on its way out nor ended', () => {
    const waiting = made('web-2', 2, { phase: 'Pending', nodeName: undefined, ready: false });
    const gone = [made('web-3', 3, { deletingAt: NOON }), made('web-4', 4, { phase: 'Failed' })];
    expect(nameOf(newestLive([...gone, made('web-1', 1), waiting]))).toBe('web-2');
    expect(newestLive(gone)).toBeUndefined();
    expect(nameOf(newestOf(gone))).toBe('web-4');
    expect([newestLive([]), newestOf([])]).toEqual([undefined, undefined]);
  });

  test('is the same in any order of the list, also where several were made in one second', () => {
    const pods = fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), at: fc.nat(2) }), {
      minLength: 1,
      selector: ({ name }) => name,
    });
    const shuffled = pods.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const of = (list: typeof all) => nameOf(newestOf(list.map(({ name, at }) => made(name, at))));
        const newest = Math.max(...all.map(({ at }) => at));
        const [first] = all.flatMap(({ name, at }) => (at === newest ? [name] : [])).sort();
        expect([of(all), of(other)]).toEqual([first, first]);
      }),
      { numRuns: 200 },
    );
  });
});
