import { describe, expect, test } from 'vitest';
import { createLogger, type LogLevel } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createJournal, type JournalKind, journalOf } from './journal.ts';
import { logJournal } from './journal-log.ts';

function logged(level: LogLevel) {
  const clock = createVirtualClock(Date.UTC(2026, 10, 29, 2, 13));
  const lines: string[] = [];
  const journal = createJournal({ clock });
  const log = createLogger({ level, format: 'json', clock, write: (line) => lines.push(line) });
  const end = logJournal(journal, log.child('journal'));
  const records = (): Record<string, unknown>[] => lines.map((line): Record<string, unknown> => JSON.parse(line));
  return { journal, records, end };
}

const entry = (kind: JournalKind) => ({
  kind,
  reason: 'EvictedForRebalance',
  message: 'pod web-1 moves',
  pod: 'web-1',
});

describe('logJournal', () => {
  test('what was done is a record of the log with all that the journal has of it', () => {
    const { journal, records } = logged('info');
    journalOf(journal, 'placement').record('Deployment/shop/web', { ...entry('done'), numbers: { wanted: 3 } });
    expect(records()).toEqual([
      {
        level: 'info',
        time: '2026-11-29T02:13:00.000Z',
        logger: 'journal',
        workload: 'Deployment/shop/web',
        engine: 'placement',
        kind: 'done',
        reason: 'EvictedForRebalance',
        pod: 'web-1',
        numbers: { wanted: 3 },
        msg: 'pod web-1 moves',
      },
    ]);
  });

  test.each<[JournalKind, LogLevel, number]>([
    ['done', 'info', 2],
    ['failed', 'info', 2],
    ['blocked', 'info', 0],
    ['seen', 'info', 0],
    ['decided', 'info', 0],
    ['blocked', 'debug', 1],
    ['seen', 'debug', 1],
  ])('%s twice is at level %s in the log %i times', (kind, level, times) => {
    const { journal, records } = logged(level);
    journal.record('w', entry(kind));
    journal.record('w', entry(kind));
    expect(records()).toHaveLength(times);
  });

  test('it ends', () => {
    const { journal, records, end } = logged('info');
    end();
    journal.record('w', entry('done'));
    expect(records()).toEqual([]);
  });
});
