import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createAccounts } from './accounts.ts';
import { aFleet } from './testing/facts.ts';

const MINUTE = 60_000;

test('sums are integrals: what was, for as long as it was', async () => {
  const clock = createVirtualClock(0);
  const accounts = createAccounts(clock);
  const whole = aFleet({ replicas: 10, spotPercentage: 70 });
  accounts.settle(whole);
  await clock.advance(2 * MINUTE);
  accounts.settle(whole);
  // Three spot pods are gone for a minute, and two of all are not ready.
  const short = { ...whole, counts: { ...whole.counts, spot: 4, ready: 5 } };
  await clock.advance(MINUTE);
  accounts.settle(short);
  expect(accounts.sums()).toEqual({
    replicas: 30 * MINUTE,
    managedReplicas: 30 * MINUTE,
    spot: 18 * MINUTE,
    spotPossible: 21 * MINUTE,
    waiting: 5 * MINUTE,
    down: 0,
    floorShort: 0,
  });
});

test('without spot machines, what runs on spot is all that is possible', async () => {
  const clock = createVirtualClock(0);
  const accounts = createAccounts(clock);
  const some = {
    ...aFleet({ replicas: 10, spotPercentage: 70 }),
    counts: { live: 10, ready: 10, readyOnDemand: 8, spot: 2, onDemand: 8 },
  };
  accounts.settle(some);
  accounts.setSpotAvailable(false);
  await clock.advance(MINUTE);
  accounts.settle(some);
  accounts.setSpotAvailable(true);
  await clock.advance(MINUTE);
  accounts.settle(some);
  expect(accounts.sums()).toMatchObject({ spot: 4 * MINUTE, spotPossible: 9 * MINUTE });
});

test('the floor is short only once it was there', async () => {
  const clock = createVirtualClock(0);
  const accounts = createAccounts(clock);
  const facts = { ...aFleet({ replicas: 4, spotPercentage: 50 }), floor: 2 };
  const starting = { ...facts, counts: { ...facts.counts, readyOnDemand: 0, ready: 0 } };
  accounts.settle(starting);
  await clock.advance(MINUTE);
  accounts.settle(starting);
  expect(accounts.sums()).toMatchObject({ floorShort: 0, down: MINUTE });
  accounts.settle(facts);
  await clock.advance(MINUTE);
  accounts.settle({ ...facts, counts: { ...facts.counts, readyOnDemand: 1 } });
  expect(accounts.sums().floorShort).toBe(MINUTE);
});

test('sums with what is not settled yet are those settling gives, and leave everything as it was', async () => {
  const clock = createVirtualClock(0);
  const accounts = createAccounts(clock);
  const facts = { ...aFleet({ replicas: 10, spotPercentage: 70 }), floor: 2 };
  const short = { ...facts, counts: { ...facts.counts, ready: 6, readyOnDemand: 1 } };
  accounts.settle(facts);
  await clock.advance(MINUTE);
  const before = accounts.sums();
  const ahead = accounts.sumsWith([short]);
  expect(ahead).toMatchObject({ waiting: 4 * MINUTE, floorShort: MINUTE });
  expect(accounts.sums()).toEqual(before);
  accounts.settle(short);
  expect(accounts.sums()).toEqual(ahead);
  expect(accounts.sumsWith([short])).toEqual(ahead);
});
