import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLedger } from './ledger.ts';

test('one invariant that is broken again and again hides no other', () => {
  const ledger = createLedger(createVirtualClock(0));
  for (let index = 0; index < 150; index++) ledger.check('steady', false, () => `turn ${index}`);
  ledger.check('budget', false, () => 'one healthy left');
  ledger.check('budget', true, () => 'never asked');
  const found = ledger.violations();
  expect([found.length, found.at(-1)?.invariant]).toEqual([101, 'budget']);
  expect(ledger.checks()).toMatchObject({ steady: 150, budget: 2, floor: 0 });
});

test('violations are counted also where they are not kept', () => {
  const ledger = createLedger(createVirtualClock(0));
  let asked = 0;
  for (let index = 0; index < 150; index++) ledger.check('steady', false, () => `${++asked}`);
  ledger.check('steady', true, () => 'never asked');
  expect([ledger.violations().length, asked]).toEqual([100, 100]);
  expect(ledger.broken()).toMatchObject({ steady: 150, floor: 0 });
});
