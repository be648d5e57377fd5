import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { SizingChange } from '../../observe/sizing/live-sizing-view.ts';
import { type WakeOptions, wakeOnChanges } from './reconcile-triggers.ts';

/** Whom a change of the bounds of `shop` wakes where it has so many workloads, and after which times. */
function wokenByBounds(count: number) {
  const names = Array.from({ length: count }, (_, index) => `web-${index}`);
  const workloads = names.map((name) => aSizedWorkload({ name, uid: name }));
  const far = aSizedWorkload({ namespace: 'other', uid: 'far' });
  let tell: (change: SizingChange) => void = () => {};
  const view = {
    ...createSizingSnapshot({ workloads: [...workloads, far] }),
    onChange(listener: typeof tell) {
      tell = listener;
      return () => {};
    },
  };
  const silent = { onChange: () => () => {} };
  const options = { view, policies: silent, usage: silent, clock: createVirtualClock(NOON) };
  const woken = new Set<string>();
  const after = new Set<number | undefined>();
  wakeOnChanges(options as unknown as WakeOptions, (_, key, delayMillis) => {
    woken.add(key);
    after.add(delayMillis);
  });
  tell({ kind: 'bounds', namespace: 'shop' });
  return { woken: woken.size, after: [...after] };
}

test('bounds of a namespace concern all its workloads, and those of a large one no more often than they can be looked at', () => {
  expect(wokenByBounds(3)).toEqual({ woken: 3, after: [200] });
  expect(wokenByBounds(20)).toEqual({ woken: 20, after: [200] });
  expect(wokenByBounds(1000)).toEqual({ woken: 1000, after: [10_000] });
});
