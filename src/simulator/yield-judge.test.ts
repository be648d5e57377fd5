import { expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLedger } from './ledger.ts';
import { createYieldJudge } from './yield-judge.ts';

function setUp() {
  const clock = createVirtualClock(0);
  const ledger = createLedger(clock);
  return {
    clock,
    judge: createYieldJudge(clock, ledger),
    checks: () => ledger.checks().yields,
    told: () => ledger.violations().map(({ invariant, detail }) => `${invariant}: ${detail}`),
  };
}

/** It asks for `cpu` and has been allocated `allocated`. */
function aPod(cpu: string, allocated: string): Pod {
  return {
    metadata: { namespace: 'shop', name: 'web-1', uid: 'u' },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }] },
    status: {
      containerStatuses: [
        { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, allocatedResources: { cpu: allocated } },
      ],
    },
  };
}

const web = { metadata: { namespace: 'shop', name: 'web', uid: 'w' } };
const MINUTE = 60_000;

test('a pod that another writer resized may be resized a moment later, and not from then on', async () => {
  const { clock, judge, told } = setUp();
  judge.resized(aPod('1', '2'), 'before');
  judge.podTaken(aPod('3', '2'));
  await clock.advance(MINUTE);
  judge.resized(aPod('1', '3'), 'under way');
  await clock.advance(2 * MINUTE);
  // Time counts from the first: the other need not write again and again.
  judge.podTaken(aPod('3', '1'));
  judge.resized(aPod('3', '3'), 'taken back');
  expect(told()).toEqual([]);
  judge.resized(aPod('1', '3'), 'cpu 3 -> 1');
  expect(told()).toEqual(['yields: shop/web-1: cpu 3 -> 1, 180000 ms after another writer']);
  judge.evicted(aPod('3', '3'));
  expect(told().slice(1)).toEqual(['yields: shop/web-1 evicted for its size, 180000 ms after another writer']);
  judge.forget('u');
  judge.resized(aPod('1', '3'), 'another pod of this name');
  judge.evicted(aPod('1', '3'));
  expect(told()).toHaveLength(2);
});

test('a pod that was left to another writer until it went counts as one that was judged', () => {
  const { judge, told, checks } = setUp();
  judge.forget('u');
  expect(checks()).toBe(0);
  judge.podTaken(aPod('3', '2'));
  judge.forget('u');
  expect([checks(), told()]).toEqual([1, []]);
});

test('a template that another writer changes is not changed again and again', async () => {
  const { clock, judge, told } = setUp();
  for (let index = 0; index < 10; index++) judge.retemplated(web, 'nobody else does');
  judge.templateTaken(web);
  for (let index = 0; index < 4; index++) judge.retemplated(web, 'a few times');
  await clock.advance(61 * MINUTE);
  for (let index = 0; index < 4; index++) judge.retemplated(web, 'an hour later');
  judge.onOperatorChange();
  for (let index = 0; index < 4; index++) judge.retemplated(web, 'by another leader');
  expect(told()).toEqual([]);
  judge.retemplated(web, 'cpu 2 -> 1');
  expect(told()).toEqual(['yields: shop/web: cpu 2 -> 1, 5 times within an hour']);
});
