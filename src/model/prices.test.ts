import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PriceTable } from '../api/prices.ts';
import { describeMissingPrice, hourlyPrice, type PricedPlace, placeOf } from './prices.ts';
import type { Side } from './records.ts';

const prices: PriceTable = {
  region: 'us-east-1',
  instanceTypes: {
    'm5.large': {
      onDemand: 0.1,
      spotDiscount: 60,
      regions: { 'eu-west-1': { onDemand: 0.2 }, 'eu-west-2': { onDemand: 0.3, spotDiscount: 50 } },
      zones: { 'us-east-1b': { spot: 0.07 }, 'us-east-1c': { spotDiscount: 10 }, 'eu-west-2a': { spotDiscount: 90 } },
    },
    'c5.large': { onDemand: 0.08 },
  },
};
const at = (region?: string, zone?: string, instanceType: string | undefined = 'm5.large'): PricedPlace => ({
  instanceType,
  region,
  zone,
});

describe('hourlyPrice', () => {
  test.each<[string, PricedPlace, Side, number | undefined]>([
    ['the type itself', at('us-east-1', 'us-east-1a'), 'on-demand', 0.1],
    ['a discount off it', at('us-east-1', 'us-east-1a'), 'spot', 0.04],
    ['a spot price of the zone', at('us-east-1', 'us-east-1b'), 'spot', 0.07],
    ['a discount of the zone off the on-demand price of the type', at('us-east-1', 'us-east-1c'), 'spot', 0.09],
    ['on-demand of a zone that only says spot', at('us-east-1', 'us-east-1b'), 'on-demand', 0.1],
    ['the region wins', at('eu-west-1', 'eu-west-1a'), 'on-demand', 0.2],
    ['the discount of another region is not borrowed', at('eu-west-1', 'eu-west-1a'), 'spot', undefined],
    ['the zone wins over the region, off the region price', at('eu-west-2', 'eu-west-2a'), 'spot', 0.03],
    ['a region of the file with a discount', at('eu-west-2', 'eu-west-2b'), 'spot', 0.15],
    ['an unknown region', at('ap-south-1', 'ap-south-1a'), 'on-demand', undefined],
    ['no region label: taken to be in the region of the file', at(), 'spot', 0.04],
    ['spot is not guessed', at('us-east-1', 'us-east-1a', 'c5.large'), 'spot', undefined],
    ['an unknown type', at('us-east-1', 'us-east-1a', 'm9.huge'), 'on-demand', undefined],
    ['a name every object has', at('us-east-1', 'constructor', 'constructor'), 'on-demand', undefined],
  ])('%s', (_, place, side, expected) => {
    const price = hourlyPrice(prices, place, side);
    if (expected === undefined) expect(price).toBeUndefined();
    else expect(price).toBeCloseTo(expected, 10);
  });

  test('a file without a region holds everywhere', () => {
    const everywhere: PriceTable = { instanceTypes: prices.instanceTypes };
    expect(hourlyPrice(everywhere, at('ap-south-1', 'ap-south-1a'), 'on-demand')).toBe(0.1);
  });

  test('a node without an instance type has no price', () => {
    expect(
      hourlyPrice(prices, { instanceType: undefined, region: 'us-east-1', zone: undefined }, 'spot'),
    ).toBeUndefined();
  });

  test('for any place spot by discount is never dearer than on-demand there', () => {
    const name = fc.constantFrom('us-east-1', 'eu-west-1', 'eu-west-2', 'us-east-1c', 'eu-west-2a', undefined);
    fc.assert(
      fc.property(name, name, fc.integer({ min: 0, max: 100 }), (region, zone, spotDiscount) => {
        const table: PriceTable = { instanceTypes: { x: { onDemand: 1.5, spotDiscount } } };
        const place = { instanceType: 'x', region, zone };
        const spot = hourlyPrice(table, place, 'spot') ?? Number.NaN;
        expect(spot).toBeGreaterThanOrEqual(0);
        expect(spot).toBeLessThanOrEqual(hourlyPrice(table, place, 'on-demand') ?? Number.NaN);
      }),
    );
  });
});

test('placeOf reads the well-known labels', () => {
  const labels = {
    'node.kubernetes.io/instance-type': 'm5.large',
    'topology.kubernetes.io/region': 'us-east-1',
    'topology.kubernetes.io/zone': 'us-east-1a',
  };
  expect(placeOf({ labels })).toEqual(at('us-east-1', 'us-east-1a'));
  expect(placeOf({ labels: {} })).toEqual({ instanceType: undefined, region: undefined, zone: undefined });
});

test.each([
  [at('us-east-1', 'us-east-1a'), 'm5.large on spot in us-east-1a'],
  [at('us-east-1'), 'm5.large on spot in us-east-1'],
  [at(), 'm5.large on spot'],
  [
    { instanceType: undefined, region: undefined, zone: 'a' },
    'a node without the label node.kubernetes.io/instance-type',
  ],
])('what is missing is named: %j', (place, expected) => {
  expect(describeMissingPrice(place, 'spot')).toBe(expected);
});
