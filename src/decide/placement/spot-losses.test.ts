import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SpotPool } from '../../model/spot-pool.ts';
import { createSpotLosses, type SpotLosses } from './spot-losses.ts';

const MINUTE = 60_000;
const poolIn = (zone: string, instanceType = 'm5.large'): SpotPool => ({ key: `${zone}/m5`, zone, instanceType });

/** `count` nodes `a0`, `a1`, ... in the pool of zone `a`. */
function standing(losses: SpotLosses, zone: string, count: number): void {
  for (let index = 0; index < count; index++) losses.standing(`${zone}${index}`, poolIn(zone));
}

function lose(losses: SpotLosses, zone: string, from: number, to: number, at: number): void {
  for (let index = from; index < to; index++) losses.gone(`${zone}${index}`, true, at);
}

describe('hazard H8: a storm', () => {
  test('is three nodes within ten minutes, where that is a tenth', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    lose(losses, 'a', 0, 2, 0);
    expect(losses.storm(0)).toBeUndefined();
    lose(losses, 'a', 2, 3, 5 * MINUTE);
    expect(losses.storm(5 * MINUTE)).toEqual({ lost: 3, calmAt: 15 * MINUTE });
  });

  test('ends ten minutes after the last node of it', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    lose(losses, 'a', 0, 3, 0);
    lose(losses, 'a', 3, 4, 6 * MINUTE);
    expect(losses.storm(15 * MINUTE)).toMatchObject({ lost: 4, calmAt: 16 * MINUTE });
    expect(losses.storm(16 * MINUTE)).toBeUndefined();
  });

  test('three nodes over half an hour are none', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    for (let index = 0; index < 3; index++) lose(losses, 'a', index, index + 1, index * 10 * MINUTE);
    expect(losses.storm(20 * MINUTE)).toBeUndefined();
  });

  test('the first of three counts for ten minutes, to the millisecond', () => {
    const stormAfter = (millis: number) => {
      const losses = createSpotLosses();
      standing(losses, 'a', 10);
      for (const [index, at] of [0, 5 * MINUTE, millis].entries()) lose(losses, 'a', index, index + 1, at);
      return losses.storm(millis) !== undefined;
    };
    expect([stormAfter(10 * MINUTE - 1), stormAfter(10 * MINUTE)]).toEqual([true, false]);
  });

  test('three of a hundred are everyday life, eleven are not', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 100);
    lose(losses, 'a', 0, 3, 0);
    expect(losses.storm(0)).toBeUndefined();
    lose(losses, 'a', 3, 11, 0);
    expect(losses.storm(0)).toMatchObject({ lost: 11 });
  });

  test('nodes an autoscaler gives back empty are no losses', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    for (let index = 0; index < 8; index++) losses.gone(`a${index}`, false, 0);
    expect(losses.storm(0)).toBeUndefined();
    expect(losses.lossyPools(10, 0)).toEqual([]);
  });

  test('a node counts once, whatever signs it gives: taint, not ready, deleted', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    for (let sign = 0; sign < 3; sign++) lose(losses, 'a', 0, 1, sign);
    expect(losses.storm(3)).toBeUndefined();
  });

  test('a node that comes and goes is one node, for storms and for its pool', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 3);
    const comeAndGo = (node: number, from: number): void => {
      for (let time = 0; time < 3; time++) {
        lose(losses, 'a', node, node + 1, from + time * MINUTE);
        losses.standing(`a${node}`, poolIn('a'));
      }
    };
    comeAndGo(0, 0);
    expect(losses.storm(3 * MINUTE)).toBeUndefined();
    expect(losses.lossyPools(1, 3 * MINUTE)).toEqual([]);
    comeAndGo(1, 3 * MINUTE);
    expect(losses.storm(6 * MINUTE)).toBeUndefined();
    expect(losses.lossyPools(1, 6 * MINUTE)).toMatchObject([{ lost: 2, standing: 3 }]);
    comeAndGo(2, 6 * MINUTE);
    expect(losses.storm(9 * MINUTE)).toEqual({ lost: 3, calmAt: 18 * MINUTE });
  });

  test('a node never seen standing is no loss', () => {
    const losses = createSpotLosses();
    lose(losses, 'a', 0, 5, 0);
    expect(losses.storm(0)).toBeUndefined();
  });
});

describe('bug 10: pools that lose too many', () => {
  test('are those that lost the share within the hour', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 10);
    standing(losses, 'b', 10);
    lose(losses, 'a', 0, 3, 0);
    lose(losses, 'b', 0, 1, 0);
    expect(losses.lossyPools(30, MINUTE)).toEqual([
      { key: 'a/m5', zone: 'a', instanceTypes: ['m5.large'], lost: 3, standing: 7 },
    ]);
    expect(losses.lossyPools(31, MINUTE)).toEqual([]);
  });

  test('name every type of theirs that was lost', () => {
    const losses = createSpotLosses();
    losses.standing('x', poolIn('a', 'm5.xlarge'));
    losses.standing('y', poolIn('a', 'm5.large'));
    for (const uid of ['x', 'y']) losses.gone(uid, true, 0);
    expect(losses.lossyPools(30, 0)[0]?.instanceTypes).toEqual(['m5.large', 'm5.xlarge']);
  });

  test('one node of each of two pools is chance, too', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 1);
    standing(losses, 'b', 1);
    lose(losses, 'a', 0, 1, 0);
    lose(losses, 'b', 0, 1, 0);
    expect(losses.lossyPools(1, 0)).toEqual([]);
  });

  test('what is said to have been lost later than now is not counted yet', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 3);
    lose(losses, 'a', 0, 3, 5 * MINUTE);
    expect(losses.lossyPools(1, 4 * MINUTE)).toEqual([]);
    expect(losses.storm(4 * MINUTE)).toBeUndefined();
    expect(losses.lossyPools(1, 5 * MINUTE)).toHaveLength(1);
  });

  test('one node is chance, an hour ago is long ago, and 100 percent avoids none', () => {
    const losses = createSpotLosses();
    standing(losses, 'a', 2);
    lose(losses, 'a', 0, 1, 0);
    expect(losses.lossyPools(1, 0)).toEqual([]);
    lose(losses, 'a', 1, 2, 0);
    expect(losses.lossyPools(99, 0)).toHaveLength(1);
    expect(losses.lossyPools(100, 0)).toEqual([]);
    expect(losses.lossyPools(99, 60 * MINUTE)).toEqual([]);
  });
});

test('for any order of coming and going: no storm without three nodes lost within the period, and none lasts without another', () => {
  const anyEvent = fc.record({
    node: fc.nat({ max: 12 }),
    minutes: fc.nat({ max: 8 }),
    kind: fc.constantFrom('up', 'lost', 'empty'),
  });
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 80 }), (events) => {
      const losses = createSpotLosses();
      const standingNow = new Set<number>();
      const lostAt = new Map<number, number>();
      let now = 0;
      for (const { node, minutes, kind } of events) {
        now += minutes * MINUTE;
        if (kind === 'up') {
          losses.standing(`${node}`, poolIn('a'));
          standingNow.add(node);
        } else {
          if (standingNow.delete(node) && kind === 'lost') lostAt.set(node, now);
          losses.gone(`${node}`, kind === 'lost', now);
        }
        const storm = losses.storm(now);
        const lately = [...lostAt.values()].filter((at) => at > now - 20 * MINUTE).length;
        if (lately < 3) expect(storm).toBeUndefined();
        if (storm !== undefined) {
          expect(storm.calmAt).toBeGreaterThan(now);
          expect(storm.calmAt).toBeLessThanOrEqual(Math.max(...lostAt.values()) + 10 * MINUTE);
          expect(storm.lost).toBe(lately);
        }
      }
    }),
    { numRuns: 500 },
  );
});
