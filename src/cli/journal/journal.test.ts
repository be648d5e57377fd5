import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createJournal, journalOf } from '../../act/journal.ts';
import { logJournal } from '../../act/journal-log.ts';
import { createLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { answeringOperator } from '../testing/answering-operator.ts';
import { runCommand } from '../testing/run-command.ts';

const at = (time: string): number => Date.parse(`2026-11-29T${time}Z`);
const moved = {
  workload: 'Deployment/shop/web',
  engine: 'placement',
  kind: 'done',
  reason: 'EvictedForRebalance',
  message: 'Evicted pod web-1 from on-demand',
  pod: 'web-1',
  numbers: { wantedSpot: 3 },
  firstAt: at('02:13:00'),
  lastAt: at('02:13:00'),
  count: 1,
};
const held = {
  workload: 'Deployment/shop/cart',
  engine: 'rightsizing',
  kind: 'blocked',
  reason: 'CachesStale',
  message: 'The watch is behind',
  firstAt: at('02:00:00'),
  lastAt: at('02:20:00'),
  count: 40,
};
const told = { at: at('03:10:00'), isLeader: true, leadingSince: at('01:00:00'), entries: [moved, held], omitted: 0 };
const night = ['--from', '2026-11-29T02:00:00Z', '--to', '2026-11-29T03:00:00Z'];
const ask = async (body: unknown, ...more: readonly string[]) => {
  const { url, asked } = await answeringOperator(body);
  return { ...(await runCommand(['journal', '--operator', url, ...more])), asked, url };
};

describe('journal --operator', () => {
  test('tells when, which engine, what and why, of the range that was asked for', async () => {
    const { stdout, stderr, code, url } = await ask(told, ...night);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `2 entries from 2026-11-29T02:00:00.000Z to 2026-11-29T03:00:00.000Z, of the operator at ${url}/: 1 done, 0 failed, 1 held back`,
      '',
      'TIME                       TIMES   ENGINE        WORKLOAD               WHAT      REASON                MESSAGE',
      '2026-11-29T02:13:00.000Z       1   placement     Deployment/shop/web    done      EvictedForRebalance   Evicted pod web-1 from on-demand',
      '2026-11-29T02:20:00.000Z      40   rightsizing   Deployment/shop/cart   blocked   CachesStale           The watch is behind',
      '',
    ]);
  });

  test('wide has the pod, and since when what came back', async () => {
    const { stdout } = await ask(told, '-o', 'wide');
    expect(stdout).toMatch(/2026-11-29T02:13:00\.000Z +- +1 .* web-1 /);
    expect(stdout).toMatch(/2026-11-29T02:20:00\.000Z +2026-11-29T02:00:00\.000Z +40 /);
  });

  test('everything that narrows it is asked of the operator', async () => {
    const { asked } = await ask(told, 'deploy/shop/web', '--engine', 'placement', '--done', ...night);
    const query = new URLSearchParams((asked[0] ?? '').replace('/journal?', ''));
    expect(Object.fromEntries(query)).toEqual({
      from: String(at('02:00:00')),
      to: String(at('03:00:00')),
      namespace: 'shop',
      workload: 'Deployment/shop/web',
      engine: 'placement',
      done: 'true',
    });
  });

  test('JSON has the figures as well', async () => {
    const document = JSON.parse((await ask(told, '-o', 'json', ...night)).stdout);
    expect(document).toMatchObject({
      kind: 'Journal',
      from: '2026-11-29T02:00:00.000Z',
      entries: [{ at: '2026-11-29T02:13:00.000Z', numbers: { wantedSpot: 3 }, pod: 'web-1' }, { count: 40 }],
      omitted: 0,
      problems: [],
    });
  });

  test.each([
    ['a follower', { isLeader: false, leadingSince: undefined }, 'is not the leader'],
    ['a leader that is younger', { leadingSince: at('02:30:00') }, 'leads since 2026-11-29T02:30:00.000Z and knows'],
    ['one that has forgotten', { forgottenUntil: at('02:05:00') }, 'up to 2026-11-29T02:05:00.000Z is no longer kept'],
    ['one that has too much', { omitted: 7 }, '7 older entries are not told'],
  ])('%s: what is not known, and where it is', async (_, more, note) => {
    const { stderr, code } = await ask({ ...told, ...more }, ...night);
    expect(code).toBe(0);
    expect(stderr).toContain(note);
  });

  test('what was forgotten before the range is no news', async () => {
    expect((await ask({ ...told, forgottenUntil: at('01:59:00') }, ...night)).stderr).toBe('');
  });

  test('an operator that has no journal to tell: it is older', async () => {
    const { url } = await answeringOperator('not found; served here: /metrics /explain\n', 404);
    const { code, stderr } = await runCommand(['journal', '--operator', url]);
    expect(code).toBe(1);
    expect(stderr).toContain('does not serve /journal: it is of an older version');
  });
});

/** The log of an operator that moved web at 02:13 and sized it at 03:30, as it writes it. */
async function operatorLog(): Promise<string> {
  const clock = createVirtualClock(at('02:13:00'));
  const lines: string[] = [];
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => lines.push(line) });
  const journal = createJournal({ clock });
  logJournal(journal, log.child('journal'));
  log.info({ lease: 'x' }, 'Leading');
  const { workload, kind: _, ...entry } = moved;
  journalOf(journal, 'placement').record(workload, { ...entry, kind: 'done', engine: 'placement' });
  await clock.advance(77 * 60_000);
  const sized = { kind: 'done', reason: 'UpdateSuccess', message: 'cpu 500m -> 250m' } as const;
  journalOf(journal, 'rightsizing').record(workload, sized);
  return lines.join('');
}

describe('journal -f', () => {
  test('reads back what the operator logged, in the range that was asked for', async () => {
    const { stdout, stderr, code } = await runCommand(['journal', '-f', '-', ...night], { stdin: await operatorLog() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('1 entry from 2026-11-29T02:00:00.000Z to 2026-11-29T03:00:00.000Z, of standard input');
    expect(stdout).toMatch(/2026-11-29T02:13:00\.000Z +1 +placement +Deployment\/shop\/web +done +EvictedForRebalance/);
  });

  test('several logs are one story, in the order of time; prefixes of kubectl do no harm', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-journal-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const lines = (await operatorLog()).trimEnd().split('\n');
    const file = (name: string, picked: readonly string[]): string => {
      writeFileSync(join(folder, name), picked.map((line) => `[pod/stowage-1/operator] ${line}\n`).join(''));
      return join(folder, name);
    };
    const args = ['-f', file('new.log', lines.slice(2)), '-f', file('old.log', lines.slice(0, 2))];
    const { entries } = JSON.parse((await runCommand(['journal', ...args, '-o', 'json'])).stdout);
    expect(entries.map(({ reason }: { reason: string }) => reason)).toEqual(['EvictedForRebalance', 'UpdateSuccess']);
    const sized = await runCommand(['journal', ...args, '-o', 'json', '--engine', 'rightsizing', '-n', 'shop']);
    expect(JSON.parse(sized.stdout).entries).toHaveLength(1);
  });

  test('the files of a node are read as they are: compressed once rotated, with long lines in parts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-journal-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const parts = (await operatorLog())
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [head, tail] = [line.slice(0, 40), line.slice(40)];
        const prefix = '2026-11-29T03:30:00.123456789Z stdout';
        // What is written to the other stream meanwhile comes between.
        const warning = '2026-11-29T03:30:00.123456790Z stderr F (node:1) a warning';
        return `${prefix} P ${head}\n${warning}\n${prefix} F ${tail}\n`;
      });
    const [current, rotated] = [join(folder, '0.log'), join(folder, '0.log.20261129-021500.gz')];
    writeFileSync(current, parts.slice(2).join(''));
    // A file that was appended to after it was compressed has several members.
    writeFileSync(rotated, Buffer.concat(parts.slice(0, 2).map((part) => gzipSync(part))));
    const { stdout, stderr } = await runCommand(['journal', '-f', current, '-f', rotated, '-o', 'json']);
    expect(stderr).toBe('');
    const { entries } = JSON.parse(stdout);
    expect(entries.map(({ reason }: { reason: string }) => reason)).toEqual(['EvictedForRebalance', 'UpdateSuccess']);
  });

  test('a log of weeks, with more entries than a call takes arguments', async () => {
    const lines = (await operatorLog()).trimEnd().split('\n');
    const stdin = `${lines.at(-1)}\n`.repeat(150_000);
    const { code, stdout, stderr } = await runCommand(['journal', '-f', '-', '--to', '2020-01-01'], { stdin });
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('0 entries'), '']);
  });

  test('a log that PowerShell put into a file is read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-journal-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'operator.log');
    writeFileSync(path, Buffer.from(`\ufeff${(await operatorLog()).replaceAll('\n', '\r\n')}`, 'utf16le'));
    const { stdout } = await runCommand(['journal', '-f', path, '-o', 'json']);
    expect(JSON.parse(stdout).entries).toHaveLength(2);
  });

  test('a compressed file that ends early is told by its name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-journal-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, '0.log.gz');
    writeFileSync(path, gzipSync(await operatorLog()).subarray(0, 60));
    const { code, stderr } = await runCommand(['journal', '-f', path]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`-f ${path}: `)]);
  });

  test.each([
    ['a log as text', '2026-11-29T02:13:00.000Z INFO  journal: moved\n', '-f -: no record as JSON in there'],
    ['an empty one', '', undefined],
  ])('%s', async (_, stdin, problem) => {
    const { code, stderr } = await runCommand(['journal', '-f', '-'], { stdin });
    expect(code).toBe(problem === undefined ? 0 : 1);
    expect(stderr).toContain(problem ?? '');
  });

  test('a log without a single entry does not read as a night in which nothing was done', async () => {
    const stdin = '{"level":"warn","time":"2026-11-29T02:13:00.000Z","msg":"A watch ended"}\n';
    const { stdout, stderr } = await runCommand(['journal', '-f', '-'], { stdin });
    expect(stdout).toContain('0 entries');
    expect(stderr).toContain('note: no entry of the journal is in there, of any time');
    const some = await runCommand(['journal', '-f', '-', '--to', '2020-01-01'], { stdin: await operatorLog() });
    expect([some.stdout, some.stderr]).toEqual([expect.stringContaining('0 entries'), '']);
  });

  test('a file that is not there', async () => {
    const { code, stderr } = await runCommand(['journal', '-f', '/nowhere.log']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('-f /nowhere.log: ')]);
  });
});

test.each([[[]], [['--operator', 'http://localhost:8080', '-f', 'x.log']]])(
  'journal %j: somebody has to be asked, and one of them',
  async (args) => {
    const { code, stderr } = await runCommand(['journal', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('say whom to ask: --operator http://localhost:8080')]);
  },
);
