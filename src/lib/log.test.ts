import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger, createSilentLogger, createStderrWriter, type LogFormat, type LogLevel } from './log.ts';
import { createVirtualClock } from './virtual-clock.ts';

function capture(format: LogFormat = 'json', level: LogLevel = 'info') {
  const lines: string[] = [];
  const clock = createVirtualClock(Date.UTC(2026, 2, 29, 1));
  return { lines, log: createLogger({ format, level, clock, write: (line) => lines.push(line) }) };
}

const parse = (line: string | undefined): unknown => JSON.parse(line ?? 'null');

describe('JSON records', () => {
  test('case 76: records have level, msg, time and logger, and nothing of the machine', () => {
    const { lines, log } = capture();
    log.child('guard').info({ namespace: 'shop', current_spot: 3 }, 'blocked');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    expect(parse(lines[0])).toEqual({
      level: 'info',
      time: '2026-03-29T01:00:00.000Z',
      logger: 'guard',
      namespace: 'shop',
      current_spot: 3,
      msg: 'blocked',
    });
  });

  test('children nest their names, keep their fields, and name the logger once', () => {
    const { lines, log } = capture();
    log.child('webhook', { webhook: 'mutation' }).child('claims', { shard: 1 }).warn({}, 'late');
    expect(parse(lines[0])).toMatchObject({ level: 'warn', logger: 'webhook.claims', webhook: 'mutation', shard: 1 });
    expect(lines[0]?.match(/"logger"/g)).toHaveLength(1);
  });

  test('errors are one sentence; the stack comes at debug level only', () => {
    const plain = capture();
    plain.log.error({ error: new Error('no lease', { cause: new Error('409') }) }, 'election');
    expect(parse(plain.lines[0])).toMatchObject({ level: 'error', error: 'no lease: 409' });
    expect(plain.lines[0]).not.toContain('stacktrace');

    const verbose = capture('json', 'debug');
    verbose.log.error({ error: new Error('no lease') }, 'election');
    expect(parse(verbose.lines[0])).toHaveProperty('stacktrace', expect.stringContaining('log.test.ts'));
    verbose.log.error({ error: 'just text' }, 'election');
    expect(parse(verbose.lines[1])).toMatchObject({ error: 'just text' });
  });

  test.each<[LogLevel, string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['fatal', []],
  ])('level %s lets %j through', (level, expected) => {
    const { lines, log } = capture('json', level);
    for (const method of ['debug', 'info', 'warn', 'error'] as const) log[method]({}, method);
    expect(lines.map((line) => (parse(line) as { msg: string }).msg)).toEqual(expected);
  });
});

describe('text records', () => {
  test('read like a sentence with its facts', () => {
    const { lines, log } = capture('text');
    log.child('placement').warn({ pod: 'web-1', reason: 'no room', counts: { spot: 1 }, n: 2 }, 'not moved');
    expect(lines).toEqual([
      '2026-03-29T01:00:00.000Z WARN  placement: not moved pod=web-1 reason="no room" counts={"spot":1} n=2\n',
    ]);
  });

  test('a logger without a name has no prefix', () => {
    const { lines, log } = capture('text');
    log.info({}, 'started');
    expect(lines).toEqual(['2026-03-29T01:00:00.000Z INFO  started\n']);
  });

  test('line breaks in values stay within the line', () => {
    const { lines, log } = capture('text');
    log.info({ text: 'a\nb' }, 'x');
    expect(lines[0]?.match(/\n/g)).toHaveLength(1);
  });
});

test('the silent logger takes everything and gives itself as child', () => {
  const silent = createSilentLogger();
  for (const method of ['debug', 'info', 'warn', 'error'] as const) silent[method]({ error: new Error('x') }, 'x');
  expect(silent.child('a').child('b')).toBe(silent);
});

test('what was written to standard error is there even when the process ends at once', async () => {
  const script = `
    import { createLogger, createStderrWriter } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    import { createSystemClock } from ${JSON.stringify(new URL('./clock.ts', import.meta.url).href)};
    const log = createLogger({ level: 'info', format: 'json', clock: createSystemClock(), write: createStderrWriter() });
    for (let line = 0; line < 2000; line++) log.info({ line }, 'written');
    process.exit(3);
  `;
  const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script], {
    maxBuffer: 10_000_000,
  });
  await expect(run).rejects.toSatisfy((error: { code: number; stderr: string }) => {
    expect(error.code).toBe(3);
    const lines = error.stderr.trim().split('\n');
    expect(lines).toHaveLength(2000);
    expect(parse(lines.at(-1))).toMatchObject({ line: 1999, msg: 'written' });
    return true;
  });
});

test.skipIf(!existsSync('/dev/full'))('a log on a full disk stops nobody who writes into it', () => {
  const descriptor = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(descriptor));
  const write = createStderrWriter(descriptor);
  const log = createLogger({ level: 'info', format: 'json', clock: createVirtualClock(0), write });
  const padding = 'x'.repeat(1000);
  expect(() => {
    for (let line = 0; line < 3000; line++) log.info({ line, padding }, 'lost');
  }).not.toThrow();
});
