import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatQuantity, fromBytes } from '../lib/quantity.ts';
import { formatTime } from '../lib/rfc3339.ts';
import { spoiled } from '../lib/testing/spoiled.ts';
import { type LearnedFloor, learn, learnedTogether, noLessons, readLessons, writeLessons } from './learned-floors.ts';

const floor = (changes: Partial<LearnedFloor> = {}): LearnedFloor => ({
  container: 'app',
  resource: 'memory',
  atLeast: 500,
  until: 10_000,
  ...changes,
});

describe('learned floors', () => {
  test('are read as they were written', () => {
    const lessons = learn(noLessons, [floor(), floor({ resource: 'cpu', atLeast: 200 })]);
    expect(readLessons(writeLessons(lessons), 0)).toEqual(lessons);
    expect(lessons.reverts).toBe(1);
  });

  test('nothing to remember is no annotation', () => {
    expect(writeLessons(noLessons)).toBeUndefined();
    expect(readLessons(undefined, 0)).toEqual(noLessons);
  });

  test('that decreases were taken back is remembered without a floor', () => {
    const lessons = { floors: [], reverts: 2 };
    expect(readLessons(writeLessons(lessons), 0)).toEqual(lessons);
  });

  test('that no node had room is remembered by itself, until it is over', () => {
    const text = writeLessons({ ...noLessons, noRoomUntil: 20 });
    expect(readLessons(text, 19)).toEqual({ ...noLessons, noRoomUntil: 20 });
    expect(readLessons(text, 20)).toEqual(noLessons);
    expect(learn(readLessons(text, 19), [floor()])).toMatchObject({ reverts: 1, noRoomUntil: 20 });
  });

  test('end at their instant', () => {
    const text = writeLessons(learn(noLessons, [floor({ until: 20 })]));
    expect([readLessons(text, 19).floors.length, readLessons(text, 20).floors.length]).toEqual([1, 0]);
  });

  test('expire, one by one', () => {
    const text = writeLessons(learn(noLessons, [floor({ until: 5 }), floor({ resource: 'cpu', until: 50 })]));
    expect(readLessons(text, 20).floors).toEqual([floor({ resource: 'cpu', until: 50 })]);
  });

  test('of two for one resource the higher counts, until the later', () => {
    const once = learn(noLessons, [floor({ atLeast: 700, until: 10 })]);
    const twice = learn(once, [floor({ atLeast: 600, until: 20 })]);
    expect(twice).toEqual({ floors: [floor({ atLeast: 700, until: 20 })], reverts: 2 });
    expect(learn(twice, [floor({ atLeast: 800, until: 5 })]).floors).toEqual([floor({ atLeast: 800, until: 20 })]);
  });

  test('of several together are those of each, the higher where two are for one resource', () => {
    const one = { floors: [floor({ atLeast: 700, until: 10 })], reverts: 1 };
    const other = { floors: [floor({ until: 20 }), floor({ resource: 'cpu' })], reverts: 3 };
    expect(learnedTogether([noLessons, one, other])).toEqual({
      floors: [floor({ atLeast: 700, until: 20 }), floor({ resource: 'cpu' })],
      reverts: 3,
    });
    expect(learnedTogether([])).toEqual(noLessons);
  });

  test.each([
    ['{'],
    ['[]'],
    ['null'],
    ['{"floors":1}'],
    ['{"floors":[["app","gpu",1,99]],"reverts":0}'],
    ['{"floors":[["app","cpu",0,99]],"reverts":-3}'],
    ['{"floors":[[1,"cpu",5,99]],"reverts":"2"}'],
    ['{"floors":[["app","cpu","5",99],["app","cpu",5,"99"],["app","cpu",-5,99]],"reverts":0}'],
    ['{"floors":[null,["app"]],"reverts":1.5}'],
    ['{"floors":[],"noRoomUntil":"99"}'],
    ['{"floors":[],"noRoomUntil":1e400}'],
    ['{"floors":[["app","cpu",1e400,99],["app","cpu",1e300,99],["app","cpu",0.5,99]],"reverts":0}'],
    ['{"floors":[["app","cpu",5,1e400],["app","cpu",5,8640000000000001],["app","cpu",5,9.5]],"reverts":0}'],
  ])('%s teaches nothing', (text) => {
    expect(readLessons(text, 0)).toEqual(noLessons);
  });

  test('for any text that somebody has edited, what is read of it can be told', () => {
    const body: unknown = JSON.parse(writeLessons(learn(noLessons, [floor(), floor({ resource: 'cpu' })])) ?? '');
    const edited = spoiled(body).map((value) => (JSON.stringify(value) ?? '').replaceAll('"1e400"', '1e400'));
    fc.assert(
      fc.property(edited, (text) => {
        for (const { atLeast, until } of readLessons(text, 0).floors)
          expect(`${formatQuantity(fromBytes(atLeast))} ${formatTime(until)}`).toMatch(/^\S+ \S+$/);
      }),
      { numRuns: 500 },
    );
  });
});
