import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { aContainer, aQuota } from '../../model/testing/sizing-records.ts';
import { type CpuGrowth, cpuGrowth, createQuotaReadings, READING_LIFE } from './quota-readings.ts';

const { signal } = new AbortController();
const grown = (cpuRequest: number): CpuGrowth => ({ cpuRequest, cpuLimit: 0 });

function stage() {
  const clock = createVirtualClock(0);
  const underWay = new Map<string, CpuGrowth>();
  const reads: string[] = [];
  const readings = createQuotaReadings({
    read: async (namespace) => {
      reads.push(namespace);
      return [aQuota({ namespace, used: { cpuRequest: reads.length } })];
    },
    underWay: () => underWay,
    clock,
  });
  return { clock, underWay, reads, readings };
}

describe('a reading of quotas', () => {
  test('serves a namespace for a second, and one that is asked for meanwhile waits for the same answer', async () => {
    const { clock, reads, readings } = stage();
    const [first, again] = await Promise.all([readings.of('shop', signal), readings.of('shop', signal)]);
    expect(again.quotas).toBe(first.quotas);
    await readings.of('other', signal);
    await clock.advance(READING_LIFE - 1);
    expect((await readings.of('shop', signal)).quotas).toBe(first.quotas);
    expect(reads).toEqual(['shop', 'other']);
    await clock.advance(1);
    expect((await readings.of('shop', signal)).quotas?.[0]?.used).toEqual({ cpuRequest: 3 });
  });

  test('counts what is sent after it, each pod with all it was raised by', async () => {
    const { readings } = stage();
    // Nobody reads the namespace yet: what is sent will be in the figures.
    readings.note({ namespace: 'shop', uid: 'early' }, grown(50));
    const asked = readings.of('shop', signal);
    readings.note({ namespace: 'shop', uid: 'a' }, grown(100));
    const { unseen } = await asked;
    readings.note({ namespace: 'shop', uid: 'a' }, { cpuRequest: 20, cpuLimit: 7 });
    readings.note({ namespace: 'other', uid: 'b' }, grown(1));
    expect([...unseen]).toEqual([['a', { cpuRequest: 120, cpuLimit: 7 }]]);
  });

  test('counts what is on its way when it begins, also once the view has it', async () => {
    const { clock, underWay, readings } = stage();
    underWay.set('a', grown(100));
    await readings.of('shop', signal);
    underWay.clear();
    expect([...(await readings.of('shop', signal)).unseen]).toEqual([['a', grown(100)]]);
    await clock.advance(READING_LIFE);
    expect([...(await readings.of('shop', signal)).unseen]).toEqual([]);
  });

  test('that failed is one that knows nothing', async () => {
    const clock = createVirtualClock(0);
    const readings = createQuotaReadings({ read: async () => undefined, underWay: () => new Map(), clock });
    expect((await readings.of('shop', signal)).quotas).toBeUndefined();
  });
});

test.each([
  [[{ container: 'a', to: { cpuRequest: 300 } }], { cpuRequest: 200, cpuLimit: 0 }],
  [[{ container: 'a', to: { cpuLimit: 300 } }], { cpuRequest: 0, cpuLimit: 300 }],
  [[{ container: 'a', to: { cpuRequest: 50 } }], { cpuRequest: 0, cpuLimit: 0 }],
  [
    [
      { container: 'a', to: { cpuRequest: 150 } },
      { container: 'b', to: { cpuRequest: 50, cpuLimit: 250 } },
    ],
    { cpuRequest: 0, cpuLimit: 50 },
  ],
])('changes %j make a pod of 100m and 100m (limit 200m) grow by %j', (changes, growth) => {
  const containers = [
    aContainer({ name: 'a', size: { cpuRequest: 100 } }),
    aContainer({ name: 'b', size: { cpuRequest: 100, cpuLimit: 200 } }),
  ];
  expect(cpuGrowth(containers, changes)).toEqual(growth);
});
