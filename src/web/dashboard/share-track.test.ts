import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createShareTrack, type ShareStep, type ShareTrack } from './share-track.ts';

const step = (at: number, given: number, used?: number): ShareStep => ({ at, given, used });
function trackOf(...steps: readonly ShareStep[]): ShareTrack {
  const track = createShareTrack();
  for (const each of steps) track.add(each);
  return track;
}

describe('a track of shares', () => {
  test('keeps what changes, and nothing else', () => {
    const track = trackOf(step(1, 100), step(2, 100), step(3, 100, 50), step(4, 100, 50), step(5, 200, 50));
    expect(track.steps()).toEqual([step(1, 100), step(3, 100, 50), step(5, 200, 50)]);
  });

  test('of two steps at one instant the later holds', () => {
    expect(trackOf(step(1, 100), step(1, 200)).steps()).toEqual([step(1, 200)]);
  });

  test('forgets what is over, but not what holds at the beginning', () => {
    const track = trackOf(step(1, 100), step(5, 200), step(9, 300));
    track.forget(4);
    expect(track.steps()).toHaveLength(3);
    track.forget(7);
    expect(track.steps()).toEqual([step(5, 200), step(9, 300)]);
    track.forget(9);
    expect(track.steps()).toEqual([step(9, 300)]);
    track.forget(100);
    expect(track.steps()).toEqual([step(9, 300)]);
  });

  test('ends once, and goes on where the pod of that name is there again', () => {
    const track = trackOf(step(1, 100));
    track.end(5);
    track.end(6);
    expect(track.endedAt).toBe(5);
    track.add(step(7, 100));
    expect(track.endedAt).toBeUndefined();
  });

  test('for any changes it stays small, in order, and knows both ends', () => {
    const changes = fc.array(
      fc.record({
        wait: fc.integer({ min: 1, max: 60 }),
        given: fc.nat(9),
        used: fc.option(fc.nat(9), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 400 },
    );
    fc.assert(
      fc.property(changes, (list) => {
        const track = createShareTrack();
        let at = 0;
        for (const { wait, given, used } of list) {
          at += wait;
          track.add({ at, given, used });
        }
        const steps = track.steps();
        expect(steps.length).toBeLessThanOrEqual(90);
        expect(steps.map((each) => each.at)).toEqual(steps.map((each) => each.at).sort((a, b) => a - b));
        const last = list.at(-1);
        expect(steps.at(-1)).toMatchObject({ given: last?.given, used: last?.used });
        expect(steps[0]?.at).toBe(list[0]?.wait);
      }),
      { numRuns: 100 },
    );
  });

  test('with too many changes it is the older ones that are told more coarsely', () => {
    const track = createShareTrack();
    for (let at = 1; at <= 200; at++) track.add(step(at, at));
    const times = track.steps().map(({ at }) => at);
    expect(times.slice(-40)).toEqual(Array.from({ length: 40 }, (_, index) => 161 + index));
    expect(times[0]).toBe(1);
    expect(times[1]).toBeGreaterThan(10);
  });
});
