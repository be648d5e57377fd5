import { expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLedger } from './ledger.ts';
import type { ObservedWrite } from './watched-api.ts';
import { createWriteJudge } from './write-judge.ts';

/** Writes of one replica, an hour apart, each of which leads to the version that is told. */
function judged() {
  const clock = createVirtualClock(0);
  const ledger = createLedger(clock);
  const judge = createWriteJudge({
    config: loadConfig({ text: 'operator: { leaderElection: { enabled: false } }', fileName: 'test', env: {} }).config,
    clock,
    ledger,
    isDisturbed: () => false,
    isMeddled: () => false,
  });
  const write = (name: string, resourceVersion: string): void => {
    const asked = { verb: 'patch', resource: 'pods', namespace: 'shop', name } as unknown as ObservedWrite;
    judge.onWrite(asked, 'a')({ kind: 'done', answer: { metadata: { resourceVersion } } } as never);
  };
  return { clock, write, broken: () => ledger.violations().map(({ detail }) => detail) };
}

test('a write that leaves the object as the last one left it has no purpose, however long ago that was', async () => {
  const { clock, broken, write } = judged();
  write('web-1', '7');
  await clock.advance(86_400_000);
  write('web-1', '8');
  write('web-2', '8');
  expect(broken()).toEqual([]);
  write('web-1', '8');
  expect(broken()).toEqual(['patch pods shop/web-1 changed nothing']);
});

test('pods come and go: what was not written for longest is forgotten, what is written again and again is not', () => {
  const { broken, write } = judged();
  write('lasting', '0');
  write('gone', '0');
  for (let index = 1; index < 10_000; index++) {
    write(`web-${index}`, '0');
    if (index === 5000) write('lasting', '1');
  }
  write('gone', '0');
  expect(broken()).toEqual([]);
  write('lasting', '1');
  expect(broken()).toEqual(['patch pods shop/lasting changed nothing']);
});
