import { describe, expect, test } from 'vitest';
import type { CapacityClass } from '../cluster/autoscaler/node-pool.ts';
import { createOfferings } from '../cluster/autoscaler/offerings.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createMarket } from './market.ts';
import type { SimulatedPool } from './objects.ts';

const ZONES = ['a', 'b'];

function poolOf(name: string, capacity: CapacityClass): SimulatedPool {
  return {
    name,
    class: capacity,
    zones: ZONES,
    instanceType: 'm6i.large',
    cpuMillis: 2000,
    memoryBytes: 8 * 1024 ** 3,
    pricePerHour: 0.1,
    onDemandPerHour: 0.1,
    hazardPerHour: 0,
  };
}

const first = poolOf('spot-0', 'spot');
const second = poolOf('spot-1', 'spot');
const onDemand = poolOf('on-demand', 'on-demand');

function setUp() {
  const pools = [first, second, onDemand];
  const offerings = createOfferings(createVirtualClock(0));
  const market = createMarket(pools, offerings.setAvailable);
  /** What the cloud has machines of, as `pool/zone`. */
  const open = (): string[] =>
    pools.flatMap(({ name }) => ZONES.flatMap((zone) => (offerings.request(name, zone) ? [`${name}/${zone}`] : [])));
  return { market, open, all: open() };
}

describe('closings that overlap', () => {
  test('end each for itself: what one closed longer than the other stays closed', () => {
    const { market, open, all } = setUp();
    const endBoth = market.close([first, second]);
    const endFirst = market.close([first]);
    endBoth();
    expect(open()).toEqual(['spot-1/a', 'spot-1/b', 'on-demand/a', 'on-demand/b']);
    endFirst();
    expect(open()).toEqual(all);
  });

  test('of a whole pool and of one of its zones are two', () => {
    const { market, open, all } = setUp();
    const endZone = market.close([first], 'a');
    const endPool = market.close([first]);
    endPool();
    expect(open()).toEqual(all.filter((each) => each !== 'spot-0/a'));
    market.close([first]);
    endZone();
    expect(open()).toEqual(all.filter((each) => !each.startsWith('spot-0/')));
  });

  test('may be equal: it is closed until both are over', () => {
    const { market, open, all } = setUp();
    const ends = [market.close([onDemand]), market.close([onDemand])];
    for (const end of ends) {
      expect(open()).not.toContain('on-demand/a');
      end();
    }
    expect(open()).toEqual(all);
  });
});

describe('opening', () => {
  test('ends all closings of these pools, and none of others; the end of an ended one changes nothing', () => {
    const { market, open } = setUp();
    const end = market.close([first, second]);
    market.close([first], 'b');
    market.open([first]);
    expect(open()).toEqual(['spot-0/a', 'spot-0/b', 'on-demand/a', 'on-demand/b']);
    market.close([first]);
    end();
    expect(open()).toEqual(['spot-1/a', 'spot-1/b', 'on-demand/a', 'on-demand/b']);
  });

  test('one zone leaves the pool closed where it is closed as a whole, or in another', () => {
    const { market, open } = setUp();
    market.close([first], 'a');
    market.close([first], 'b');
    market.close([second]);
    market.open([first, second], 'a');
    expect(open()).toEqual(['spot-0/a', 'on-demand/a', 'on-demand/b']);
  });
});

test('spot is to be had until each of its pools is closed as a whole', () => {
  const { market } = setUp();
  market.close([first, onDemand]);
  market.close([second], 'a');
  expect(market.isSpotAvailable()).toBe(true);
  const end = market.close([second]);
  expect(market.isSpotAvailable()).toBe(false);
  end();
  expect(market.isSpotAvailable()).toBe(true);
});
