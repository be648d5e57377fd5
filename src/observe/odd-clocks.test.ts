import { describe, expect, test } from 'vitest';
import type { Logger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createOddClocks, type Teller } from './odd-clocks.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const node = (name: string): Teller => ({ kind: 'node', name: `node ${name}` });
const none = { node: 0, scheduler: 0, 'api-server': 0 };

function setUp() {
  const clock = createVirtualClock(NOON);
  const lines: unknown[] = [];
  const log = { warn: (fields: object) => void lines.push(fields) } as unknown as Logger;
  return { clock, lines, clocks: createOddClocks(log, clock) };
}

describe('a clock counts as off', () => {
  test('when it is so again minutes later, by about the same', async () => {
    const { clock, clocks } = setUp();
    clocks.noteOdd(node('n1'), HOUR);
    await clock.advance(5 * MINUTE);
    expect(clocks.counts()).toEqual(none);
    clocks.noteOdd(node('n1'), HOUR + 20_000);
    clocks.noteOdd({ kind: 'api-server', name: 'the API server' }, -HOUR);
    expect(clocks.counts()).toEqual({ ...none, node: 1 });
    await clock.advance(5 * MINUTE);
    clocks.noteOdd({ kind: 'api-server', name: 'the API server' }, -HOUR);
    expect(clocks.counts()).toEqual({ ...none, node: 1, 'api-server': 1 });
  });

  test('until it tells a time that may be right', async () => {
    const { clock, clocks } = setUp();
    for (const name of ['n1', 'n2']) clocks.noteOdd(node(name), HOUR);
    await clock.advance(5 * MINUTE);
    for (const name of ['n1', 'n2']) clocks.noteOdd(node(name), HOUR);
    clocks.noteRight(node('n1'));
    expect(clocks.counts()).toEqual({ ...none, node: 1 });
  });

  test('not where what was held up is told late, all at once or by less and less', async () => {
    const { clock, clocks } = setUp();
    for (const late of [10, 8, 3]) clocks.noteOdd(node('n1'), -late * MINUTE);
    await clock.advance(10 * MINUTE);
    clocks.noteOdd(node('n1'), -MINUTE);
    expect(clocks.counts()).toEqual(none);
  });

  test('for six hours after it was last heard of', async () => {
    const { clock, clocks } = setUp();
    clocks.noteOdd(node('n1'), HOUR);
    await clock.advance(5 * MINUTE);
    clocks.noteOdd(node('n1'), HOUR);
    await clock.advance(6 * HOUR - 1);
    expect(clocks.counts().node).toBe(1);
    await clock.advance(1);
    expect(clocks.counts()).toEqual(none);
  });
});

test('is logged once an hour for each', async () => {
  const { clock, lines, clocks } = setUp();
  clocks.noteOdd(node('n1'), 90_400);
  clocks.noteOdd(node('n1'), 91_000);
  clocks.noteOdd(node('n2'), -HOUR);
  await clock.advance(HOUR);
  clocks.noteOdd(node('n1'), 92_000);
  expect(lines).toEqual([
    { teller: 'node n1', aheadSeconds: 90 },
    { teller: 'node n2', aheadSeconds: -3600 },
    { teller: 'node n1', aheadSeconds: 92 },
  ]);
});
