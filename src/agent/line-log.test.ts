import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger, type LogFormat } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLineLog, lineWriter } from './line-log.ts';

const clock = createVirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5));
const written = (make: typeof createLineLog, format: LogFormat): unknown[] => {
  const lines: string[] = [];
  const log = make({ level: 'info', format, clock, write: (line) => lines.push(line) });
  log.debug({}, 'left out');
  log.info({ pods: 3, name: 'a b', what: 'x' }, 'Started');
  log
    .child('one')
    .child('two', { node: 'n1' })
    .warn({ error: new Error('broken', { cause: 'a pipe' }) }, 'It failed');
  return format === 'json' ? lines.map((line) => JSON.parse(line)) : lines;
};

describe.each(['json', 'text'] as const)('as %s', (format) => {
  test('records are those of the operator', () => {
    expect(written(createLineLog, format)).toEqual(written(createLogger, format));
  });
});

test.each(['json', 'text'] as const)(
  'as %s nothing that others wrote steers a terminal or makes a record of its own',
  (format) => {
    for (const make of [createLineLog, createLogger]) {
      const lines: string[] = [];
      make({ level: 'info', format, clock, write: (line) => lines.push(line) }).info(
        { pod: 'a\u001b[2J', node: 'b\n2026 ERROR c', c1: '\u009b31m' },
        'named \u001b]0;x\u0007\n\u202e',
      );
      expect(lines).toHaveLength(1);
      expect(lines[0]?.trimEnd()).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    }
  },
);

test('a value that JSON has no form for does not stop the record', () => {
  const lines: string[] = [];
  createLineLog({ level: 'debug', format: 'text', clock, write: (line) => lines.push(line) }).debug(
    { a: undefined },
    'm',
  );
  expect(lines).toEqual(['2026-01-02T03:04:05.000Z DEBUG m a=undefined\n']);
});

test.skipIf(!existsSync('/dev/full'))('lines on a full disk are lost, and nobody is stopped for them', () => {
  const descriptor = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(descriptor));
  expect(() => lineWriter(descriptor)('lost\n')).not.toThrow();
});
