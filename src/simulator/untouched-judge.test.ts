import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLedger } from './ledger.ts';
import { aFleet, aPodOf } from './testing/facts.ts';
import { createUntouchedJudge } from './untouched-judge.ts';

const managed = aFleet({ replicas: 2, spotPercentage: 50 });
const unmanaged = { ...managed, rule: undefined };
const placed = aPodOf('p', { slot: 1 });
const plain = aPodOf('p', { slot: undefined });

function setUp() {
  const clock = createVirtualClock(0);
  const ledger = createLedger(clock);
  return { clock, judge: createUntouchedJudge(clock, ledger), ledger };
}

test('a workload that never was managed gets no pod with a place', () => {
  const { judge, ledger } = setUp();
  judge.onWorkload(unmanaged, undefined);
  judge.onPodAdded(unmanaged, plain);
  expect(ledger.violations()).toEqual([]);
  judge.onPodAdded(unmanaged, placed);
  expect(ledger.violations()).toMatchObject([{ invariant: 'untouched', detail: 'shop/web: p has a place' }]);
  expect(ledger.checks().untouched).toBe(2);
});

test('one that is managed no longer gets none after a minute, in which replicas hear of it', async () => {
  const { clock, judge, ledger } = setUp();
  judge.onWorkload(managed, undefined);
  await clock.advance(1_000_000);
  judge.onWorkload(unmanaged, managed);
  await clock.advance(60_000);
  judge.onPodAdded(unmanaged, placed);
  expect(ledger.broken().untouched).toBe(0);
  // Another change of it is no new beginning.
  judge.onWorkload(unmanaged, unmanaged);
  await clock.advance(1);
  judge.onPodAdded(unmanaged, placed);
  expect(ledger.broken().untouched).toBe(1);
});

test('one that is managed again may have them', async () => {
  const { clock, judge, ledger } = setUp();
  judge.onWorkload(unmanaged, undefined);
  judge.onWorkload(managed, unmanaged);
  judge.onPodAdded(managed, placed);
  expect(ledger.checks().untouched).toBe(0);
  judge.onWorkload(unmanaged, managed);
  await clock.advance(60_000);
  judge.onPodAdded(unmanaged, placed);
  expect(ledger.broken().untouched).toBe(0);
});
