import { expect, test } from 'vitest';
import type { StatefulSet } from '../api/core.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLedger } from './ledger.ts';
import { createReplicaJudge } from './replica-judge.ts';

function createWorld() {
  const clock = createVirtualClock(0);
  const ledger = createLedger(clock);
  const judge = createReplicaJudge(clock, ledger);
  let last = db(100);
  const write = (next: StatefulSet): void => {
    judge.onWorkload(last, next);
    last = next;
  };
  return { clock, ledger, write };
}

function db(cpu: number, replica = '0'): StatefulSet {
  const size = { app: [cpu, null, 1024, null] };
  const text = JSON.stringify({ template: size, replicas: { [replica]: { size, at: cpu } } });
  return { metadata: { name: 'db', namespace: 'shop', uid: 'db', annotations: { 'optipod.io/replica-sizes': text } } };
}

test('a size that goes up and down again and again is told', () => {
  const { ledger, write } = createWorld();
  for (const cpu of [200, 100, 200, 100, 200, 100, 200]) write(db(cpu));
  expect(ledger.violations()).toEqual([]);
  write(db(100));
  expect(ledger.violations().map(({ detail }) => detail)).toEqual([
    'shop/db replica 0 app 0: 200 -> 100, 8 changes and 7 turns within an hour',
  ]);
});

test('a size that is changed again and again is told, over hours it is not', async () => {
  const { clock, ledger, write } = createWorld();
  for (let cpu = 101; cpu <= 200; cpu++) {
    write(db(cpu));
    await clock.advance(61_000);
  }
  expect(ledger.violations()).toEqual([]);
  for (let cpu = 201; cpu <= 261; cpu++) write(db(cpu));
  expect(ledger.violations()).not.toEqual([]);
});

test('who comes, goes or has the size of another is not told', () => {
  const { ledger, write } = createWorld();
  for (let turn = 0; turn < 40; turn++) write(turn % 2 === 0 ? db(200, '1') : db(100));
  write({ metadata: { name: 'db', namespace: 'shop', uid: 'db', annotations: { 'optipod.io/replica-sizes': '[{' } } });
  write({ metadata: { name: 'db', namespace: 'shop', uid: 'db' } });
  expect(ledger.violations()).toEqual([]);
});
