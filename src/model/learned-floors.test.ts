import { describe, expect, test } from 'vitest';
import { type LearnedFloor, learn, noLessons, readLessons, writeLessons } from './learned-floors.ts';

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
  ])('%s teaches nothing', (text) => {
    expect(readLessons(text, 0)).toEqual(noLessons);
  });
});
