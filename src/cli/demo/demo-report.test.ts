import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createCleanup } from './cleanup.ts';
import { startDemoReport } from './demo-report.ts';

function world() {
  const outer = mkdtempSync(join(tmpdir(), 'stowage-demo-report-'));
  onTestFinished(() => rmSync(outer, { recursive: true, force: true }));
  const folder = join(outer, 'reports');
  const clock = createVirtualClock(0);
  const lines: string[] = [];
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => void lines.push(line) });
  const cleanup = createCleanup();
  let starts = 0;
  const startOperator = async (): Promise<never> => {
    starts++;
    throw new Error('no operator today');
  };
  startDemoReport({ folder, startOperator, clock, log, cleanup });
  return { clock, cleanup, folder, lines, starts: () => starts };
}

test('a demo that ends at once waits for no simulation', async () => {
  const { cleanup, clock, folder, lines, starts } = world();
  await cleanup.run();
  await clock.advance(60_000);
  expect([starts(), readdirSync(folder), lines, clock.pendingTimers()]).toEqual([0, [], [], 0]);
});

test('a simulation that fails is logged, and the demo goes on without its report', async () => {
  const { cleanup, clock, folder, lines, starts } = world();
  await clock.advance(10_000);
  while (lines.length === 0) await clock.advance(0);
  await cleanup.run();
  expect([starts(), readdirSync(folder)]).toEqual([1, []]);
  expect(lines.join()).toContain('no operator today');
});
