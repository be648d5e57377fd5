import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import { createFleetScan } from './fleet-scan.ts';
import { row } from './testing/rows.ts';

const ref = (name: string): WorkloadRef => ({ kind: 'Deployment', namespace: 'shop', name });

function setUp(names: readonly string[]) {
  const clock = createVirtualClock(0);
  let looks = 0;
  const scan = createFleetScan({
    workloads: () => names.map(ref),
    look(each) {
      looks++;
      return each.name === 'gone' ? undefined : { row: row({ name: each.name }), cost: undefined };
    },
    clock,
  });
  return { clock, scan, looks: () => looks };
}

describe('a look at the fleet', () => {
  test('is one for all who ask at a time, and is kept for a while', async () => {
    const { clock, scan, looks } = setUp(['a', 'b']);
    const [first, second] = await Promise.all([scan(), scan()]);
    expect(first).toBe(second);
    expect(looks()).toBe(2);
    await clock.advance(999);
    await scan();
    expect(looks()).toBe(2);
    await clock.advance(1);
    await scan();
    expect(looks()).toBe(4);
  });

  test('leaves no timer and no rows behind once nobody asks', async () => {
    const { clock, scan } = setUp(['a']);
    await scan();
    await clock.advance(60_000);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a workload of two engines is looked at once, one that is gone is left out', async () => {
    const { scan, looks } = setUp(['a', 'b', 'a', 'gone']);
    expect((await scan()).workloads.map(({ row: { name } }) => name)).toEqual(['a', 'b']);
    expect(looks()).toBe(3);
  });

  test('others have their turn meanwhile', async () => {
    const { scan, looks } = setUp(Array.from({ length: 200 }, (_, index) => `w${index}`));
    const scanning = scan();
    await new Promise((resolve) => setImmediate(resolve));
    expect(looks()).toBeLessThan(200);
    expect((await scanning).workloads).toHaveLength(200);
  });

  test('one that fails is not kept', async () => {
    const clock = createVirtualClock(0);
    let isBroken = true;
    const scan = createFleetScan({
      workloads: () => [ref('a')],
      look() {
        if (isBroken) throw new Error('broken');
        return { row: row(), cost: undefined };
      },
      clock,
    });
    await expect(scan()).rejects.toThrow('broken');
    isBroken = false;
    expect((await scan()).workloads).toHaveLength(1);
  });
});
