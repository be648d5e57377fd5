import { describe, expect, test } from 'vitest';
import { solve } from '../solve.ts';
import { type StrictBid, strictBid, strictPrice, strictSolve } from './strict-market.ts';

const bid = (min: number, max: number, weight = 1, demand = max): StrictBid => ({
  uid: `pod-${min}-${max}-${weight}`,
  min,
  max,
  weight,
  demand,
});

describe('the market as shipped', () => {
  test.each<[string, readonly StrictBid[], number, readonly number[]]>([
    ['two sated, one takes the rest', [bid(100, 300), bid(100, 300), bid(100, 1000)], 1000, [300, 300, 400]],
    ['all sated', [bid(100, 200), bid(100, 200), bid(100, 200)], 1000, [200, 200, 200]],
    ['truncation leaves a rest', [bid(0, 999), bid(0, 999), bid(0, 999)], 1000, [333, 333, 333]],
    ['no weight: equal parts, bounds ignored', [bid(100, 150, 0), bid(100, 150, 0)], 1000, [500, 500]],
    ['no weight, one sated: all the same', [bid(100, 100, 0), bid(100, 150, 0)], 1000, [500, 500]],
    ['overload gives one more than its own claim', [bid(100, 900, 1.2), bid(100, 900, 0.8)], 190, [114, 76]],
    [
      'overload of equal pods halves both, whatever their weight',
      [bid(100, 900, 1.2), bid(100, 900, 1.2)],
      190,
      [95, 95],
    ],
    ['overload goes by claim and weight', [bid(500, 900, 10), bid(500, 900, 1)], 999, [908, 90]],
    ['overload without weights: equal parts', [bid(300, 900, 0), bid(100, 900, 0)], 190, [95, 95]],
    [
      'overload exceeds the capacity by its floor',
      [bid(20, 90), bid(20, 90), bid(20, 90), bid(20, 90), bid(20, 90)],
      30,
      [10, 10, 10, 10, 10],
    ],
    ['a want below the claim pulls the pod below its claim (mbcas bug 4)', [bid(500, 330)], 1000, [330]],
    ['what that frees goes to the others', [bid(500, 330), bid(100, 2000)], 1000, [330, 670]],
    ['a want below the claim with nothing left to hand out stays at its claim', [bid(500, 330)], 500, [500]],
  ])('%s', (_name, bids, capacity, shares) => {
    expect(strictSolve(bids, capacity)).toEqual(shares);
  });

  test('the price is excess demand by capacity and mean weight', () => {
    expect(strictPrice([bid(0, 900, 1.2, 900), bid(0, 900, 0.8, 600)], 1000)).toBeCloseTo(0.5, 9);
    expect(strictPrice([bid(0, 900, 1, 900)], 1000)).toBe(0);
    expect(strictPrice([], 1000)).toBe(0);
    expect(strictPrice([bid(0, 900)], 0)).toBe(Number.POSITIVE_INFINITY);
  });

  test('mbcas bug 11: the price looks at demand, the solver at the most: congestion without a price; ours has the true one', () => {
    const bids = [bid(100, 2000, 1, 400), { ...bid(100, 2000, 1, 400), uid: 'other' }];
    expect([strictPrice(bids, 1000), strictSolve(bids, 1000)]).toEqual([0, [500, 500]]);
    const { shadowPrice, shares } = solve({ capacity: 1000, bids });
    expect(shares).toEqual([500, 500]);
    expect(shadowPrice).toBeCloseTo(1 / 400, 9);
  });
});

describe('bids as shipped', () => {
  test.each([
    [
      'usage alone',
      { usage: 500, throttle: 0, allocation: 500, inGrace: false },
      0,
      { demand: 750, min: 575, max: 825 },
    ],
    [
      'throttled: ten times its usage',
      { usage: 500, throttle: 0.3, allocation: 400, inGrace: false },
      0,
      { demand: 1200, min: 575, max: 5000 },
    ],
    ['idle', { usage: 0, throttle: 0, allocation: 100, inGrace: false }, 0, { demand: 15, min: 10, max: 20 }],
    [
      'at the end of grace',
      { usage: 200, throttle: 0, allocation: 500, inGrace: false },
      0,
      { demand: 300, min: 229, max: 330 },
    ],
    [
      'mbcas bug 4: grace raises the claim above the most',
      { usage: 200, throttle: 0, allocation: 500, inGrace: true },
      0,
      { demand: 300, min: 500, max: 330 },
    ],
    [
      'a low price holds nothing back',
      { usage: 500, throttle: 0, allocation: 500, inGrace: false },
      0.3,
      { demand: 750, min: 575, max: 825 },
    ],
    [
      'cut to whole millicores at each step',
      { usage: 501, throttle: 0.3, allocation: 400, inGrace: false },
      0,
      { demand: 1201, min: 576, max: 5010 },
    ],
    [
      'a claim near ten cores is passed by a hundred',
      { usage: 8700, throttle: 0.3, allocation: 9000, inGrace: false },
      0,
      { demand: 20_880, min: 10_005, max: 10_105 },
    ],
  ])('%s', (_name, pod, price, wanted) => {
    expect(strictBid('a', pod, price)).toMatchObject({ ...wanted, weight: 1.2 });
  });

  test('a price above 0.3 makes who has learned nothing conservative, and holds its demand back', () => {
    const pod = { usage: 500, throttle: 0, allocation: 500, inGrace: false };
    expect(strictBid('a', pod, 0.8)).toMatchObject({ demand: 300, min: 575, max: 330, weight: 0.8 });
    expect(strictBid('a', pod, 4)).toMatchObject({ demand: 250, min: 575, max: 275, weight: 0.8 });
  });
});
