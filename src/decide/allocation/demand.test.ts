import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { type Demand, type DemandContext, type DemandState, type Measurement, nextDemand } from './demand.ts';
import { defaultAllocationRules } from './rules.ts';
import { T0, using } from './testing/pods.ts';

const rules = defaultAllocationRules.demand;
const context = (change: Partial<DemandContext> = {}): DemandContext => ({
  share: 400,
  limit: undefined,
  now: T0,
  ...change,
});
const first = (measured: Measurement, change: Partial<DemandContext> = {}): Demand =>
  nextDemand(undefined, measured, context(change), rules);

describe('what one measurement says', () => {
  test.each<[string, Measurement, Partial<DemandContext>, number, Demand['cause'], number]>([
    ['usage and room', using(200), {}, 350, 'usage', 0],
    ['idle', using(0), {}, 50, 'usage', 0],
    ['throttled a little is nothing', using(200, 0.1), { limit: 800 }, 350, 'usage', 0],
    ['throttled: the share grows by twice the ratio', using(300, 0.2), { limit: 400 }, 560, 'throttled', 0.2],
    ['throttled all the time: it doubles', using(300, 1), { limit: 400 }, 800, 'throttled', 1],
    ['usage above the share counts as the base', using(600, 1), { limit: 600 }, 1200, 'throttled', 1],
    [
      'under pressure at its share: it grows by twice the excess',
      using(370, undefined, 0.4),
      {},
      605,
      'pressure',
      0.25,
    ],
    ['under pressure for once, with room in its share', using(300, undefined, 0.4), {}, 500, 'pressure', 0.25],
    ['under pressure beside a hog, at a third of its request', using(130, undefined, 0.6), {}, 245, 'usage', 0],
    ['pressure of its own throttling is not counted again', using(300, 0.05, 0.9), { limit: 900 }, 500, 'usage', 0],
    ['at its limit usage says nothing: more', using(380, 0), { limit: 400 }, 700, 'saturated', 0],
    ['quite at its limit: twice', using(400, 0), { limit: 400 }, 800, 'saturated', 0],
    ['below its limit usage is the truth', using(350, 0), { limit: 400 }, 575, 'usage', 0],
  ])('%s', (_name, measured, change, want, cause, shortage) => {
    const found = first(measured, change);
    expect({ ...found, shortage: Math.round(found.shortage * 100) / 100 }).toMatchObject({ want, cause, shortage });
  });

  test('allocation bug 1: throttled in every period far below the limit: grow, never shrink (k/k#67577, #51135)', () => {
    const { want } = first(using(120, 1), { share: 1000, limit: 1000 });
    expect(want).toBe(2000);
  });

  test('allocation bug 16: pressure of 58 % made by limits alone is no contention (k/e#5062)', () => {
    expect(first(using(380, 0.05, 0.58), { limit: 800 }).cause).toBe('usage');
  });

  test('no periods, no ratio: nothing is divided by zero', () => {
    expect(first(using(0, undefined, undefined), { share: 0, limit: 0 }).want).toBe(50);
  });
});

describe('from tick to tick', () => {
  /** Feeds measurements every two seconds; the share follows the want unless given. */
  function wants(usages: readonly number[], share?: number): number[] {
    let state: DemandState | undefined;
    return usages.map((usage, tick) => {
      const now = T0 + 2000 * tick;
      const demand = nextDemand(state, using(usage), context({ now, share: share ?? state?.want ?? 400 }), rules);
      state = demand.state;
      return demand.want;
    });
  }

  test('up at once', () => {
    expect(wants([100, 800])).toEqual([200, 1250]);
  });

  test('down not before thirty seconds, then by 15 % a tick', () => {
    const found = wants([800, ...new Array<number>(18).fill(100)]);
    expect(found.slice(0, 15)).toEqual(new Array<number>(15).fill(1250));
    expect(found.slice(15)).toEqual([1062, 902, 766, 651]);
  });

  test('and ends near what usage says, the nearer the longer it stays there', () => {
    const found = wants([...new Array<number>(10).fill(800), ...new Array<number>(400).fill(100)]);
    expect(found[80]).toBeLessThan(500);
    expect(found.at(-1)).toBeLessThan(245);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(200);
  });

  test('a machine’s clock that is set back by an hour keeps no want up for that hour', () => {
    const wantsFrom = (back: number): number => {
      let state = nextDemand(undefined, using(800), context(), rules).state;
      for (let tick = 1; tick <= 18; tick++) {
        const now = T0 - back + 2000 * tick;
        state = nextDemand(state, using(100), context({ now, share: state.want }), rules).state;
      }
      return state.want;
    };
    expect(wantsFrom(3_600_000)).toBeLessThanOrEqual(wantsFrom(0));
  });

  test('what a pod seen first was given by somebody who is gone falls like a want: not at once', () => {
    const share = 800;
    let demand = first(using(100), { share, isInherited: true });
    expect(demand).toMatchObject({ want: 800, cause: 'decaying' });
    const found = Array.from({ length: 16 }, (_, tick) => {
      demand = nextDemand(demand.state, using(100), context({ share, now: T0 + 2000 * (tick + 1) }), rules);
      return demand.want;
    });
    expect(found.slice(0, 14)).toEqual(new Array<number>(14).fill(800));
    expect(found.slice(14)).toEqual([680, 578]);
    expect(first(using(600), { share, isInherited: true })).toMatchObject({ want: 950, cause: 'usage' });
  });

  test('a burst within the calm keeps the want up', () => {
    const found = wants([800, ...new Array<number>(10).fill(100), 800, ...new Array<number>(14).fill(100)]);
    expect(Math.min(...found)).toBe(1250);
  });

  test('a shortage right after a cut returns the cut and as much again', () => {
    const before = nextDemand(undefined, using(300), context({ share: 600, limit: 600 }), rules).state;
    const after = nextDemand(before, using(390, 0.3), context({ share: 400, limit: 400, now: T0 + 2000 }), rules);
    expect(after).toMatchObject({ want: 800, cause: 'rolled-back' });
  });

  test('a shortage that was there before the cut is none of its making', () => {
    const before = nextDemand(undefined, using(590, 0.3), context({ share: 600, limit: 600 }), rules).state;
    expect(nextDemand(before, using(390, 0.3), context({ share: 400, now: T0 + 2000 }), rules).cause).not.toBe(
      'rolled-back',
    );
  });

  describe('what comes back in bursts', () => {
    const rested: DemandState = {
      want: 300,
      raisedAt: T0,
      calmTicks: 9,
      share: 300,
      shortage: 0,
      peak: 1200,
      level: { mean: 160, deviation: 16, samples: 9, above: 0, below: 0 },
      holdMillis: rules.calmMillis,
      hasFallen: false,
      at: T0,
    };
    const later = (millis: number, measured: Measurement) =>
      nextDemand(rested, measured, context({ share: 300, now: T0 + millis }), rules);

    test('gets at once what it needed last time, as soon as it uses what it has', () => {
      expect(later(0, using(290))).toMatchObject({ want: 1200, cause: 'recalled' });
      expect(later(0, using(200))).toMatchObject({ want: 300, cause: 'decaying' });
    });

    test('less of it the longer ago that was', () => {
      expect(later(rules.peakHalfLifeMillis, using(290)).want).toBe(600);
      expect(later(10 * rules.peakHalfLifeMillis, using(290))).toMatchObject({ want: 485, cause: 'usage' });
    });
  });

  test('shortage resets the calm', () => {
    const before = first(using(630), { share: 1000, now: T0 - 60_000 }).state;
    const calm: DemandState = { ...before, calmTicks: 9 };
    const short = nextDemand(calm, using(200, 0.2), context({ share: 1000, limit: 2000 }), rules);
    expect(short.state.calmTicks).toBe(0);
  });
});

describe('noise', () => {
  /** Sums of twelve even numbers are as good as normal ones. */
  function noisy(seed: number, mean: number, deviation: number, ticks: number): number[] {
    const random = createSeededRandom(seed);
    const normal = (): number => Array.from({ length: 12 }, () => random.next()).reduce((sum, each) => sum + each, -6);
    return Array.from({ length: ticks }, () => Math.max(0, Math.round(mean + deviation * normal())));
  }
  function run(usages: readonly number[], share: number, from?: DemandState): Demand[] {
    let state = from;
    return usages.map((usage, tick) => {
      const demand = nextDemand(
        state,
        using(usage),
        context({ share, now: (from?.at ?? T0) + 2000 * (tick + 1) }),
        rules,
      );
      ({ state } = demand);
      return demand;
    });
  }
  const moves = (demands: readonly Demand[]): number =>
    demands.slice(1).filter(({ want }, tick) => want !== demands[tick]?.want).length;
  const loads = [
    [500, 25],
    [500, 45],
    [500, 150],
    [40, 15],
    [1500, 60],
  ] as const;

  test.each(loads)(
    'P18: a want settles on a load of %d+-%dm, and then moves once in four hours at most',
    (mean, deviation) => {
      let late = 0;
      for (let seed = 1; seed <= 8; seed++) {
        const demands = run(noisy(seed, mean, deviation, 1800), 4 * mean);
        expect(moves(demands.slice(0, 150))).toBeLessThanOrEqual(6);
        late += moves(demands.slice(150));
        const want = demands.at(-1)?.want ?? 0;
        expect(want).toBeGreaterThan(1.5 * (mean - deviation));
        expect(want).toBeLessThan(1.5 * (mean + 6 * deviation) + 70);
      }
      expect(late).toBeLessThanOrEqual(2);
    },
  );

  test.each(loads)(
    'a load of %d+-%dm that doubles is wanted at the first tick when it is past chance',
    (mean, deviation) => {
      const settled = run(noisy(3, mean, deviation, 100), 4 * mean);
      const [next] = run([Math.max(2 * mean, mean + 6 * deviation)], 4 * mean, settled.at(-1)?.state);
      expect(next?.want).toBeGreaterThanOrEqual(3 * mean);
      expect(next?.state.level.samples).toBe(1);
    },
  );

  test('one that grows by a tenth is followed within a minute', () => {
    const settled = run(noisy(5, 500, 20, 100), 2000);
    const grown = run(noisy(6, 600, 20, 30), 2000, settled.at(-1)?.state);
    expect(grown.at(-1)?.state.level.mean).toBeGreaterThan(585);
    expect(grown.at(-1)?.want).toBeGreaterThan(1.5 * 600);
  });

  test('a fall that brings the shortage back is not tried again for four times as long', () => {
    const held: number[] = [];
    let state: DemandState | undefined;
    let share = 400;
    let raisedAt = 0;
    for (let tick = 0; tick < 2000; tick++) {
      // Short of CPU whenever it has less than 700m, though it never uses more than 300m.
      const demand = nextDemand(
        state,
        using(300, share < 700 ? 0.4 : 0),
        context({ share, limit: share, now: T0 + 2000 * tick }),
        rules,
      );
      if (state !== undefined && demand.want > state.want) raisedAt = tick;
      if (state !== undefined && demand.want < state.want && !state.hasFallen) held.push(tick - raisedAt);
      ({ state } = demand);
      share = demand.want;
    }
    expect(held.slice(0, 3)).toEqual([15, 60, 240]);
  });
});

test('for any measurements the want is finite, never below usage, and falls by at most 15 % a tick', () => {
  const measured = fc.record({
    usage: fc.integer({ min: 0, max: 4000 }),
    throttledRatio: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    pressure: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  });
  fc.assert(
    fc.property(
      fc.array(measured, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 3000 }),
      (ticks, share) => {
        let state: DemandState | undefined;
        ticks.forEach((each, tick) => {
          const previous = state?.want;
          const demand = nextDemand(state, each, context({ share, limit: share, now: T0 + 5000 * tick }), rules);
          expect(Number.isFinite(demand.want)).toBe(true);
          expect(demand.want).toBeGreaterThanOrEqual(each.usage);
          if (previous !== undefined) expect(demand.want).toBeGreaterThanOrEqual(Math.floor(0.85 * previous));
          state = demand.state;
        });
      },
    ),
    { numRuns: 500 },
  );
});
