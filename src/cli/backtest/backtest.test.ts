import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

const recorded = resolve(import.meta.dirname, '../../../test/fixtures/nab/rds_cpu_utilization_cc0c53.csv.gz');
const rows = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${new Date(index * 300_000).toISOString()},${10 + (index % 5)}`).join(
    '\n',
  );

describe('backtest', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-backtest-'));
    writeFileSync(join(folder, 'good.csv'), `timestamp,value\n${rows(1000)}\n`);
    writeFileSync(join(folder, 'short.csv'), rows(10));
    writeFileSync(join(folder, 'bad.csv'), 'timestamp,value\nyesterday,5\n');
    writeFileSync(join(folder, 'notes.txt'), 'not a series');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('prints the figures of ours and four rivals for recordings', async () => {
    const recordings = join(folder, 'recordings');
    mkdirSync(recordings);
    writeFileSync(join(recordings, 'rds.csv'), gunzipSync(readFileSync(recorded)));
    const { code, stdout, stderr } = await runCommand(['backtest', '--data', recordings]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('CPU of 1 series');
    expect(stdout).not.toMatch(/OOM|LEAST|Memory/);
    for (const strategy of ['stowage', 'vpa-like', 'optipod', 'krr-like', 'max']) {
      expect(stdout).toMatch(
        new RegExp(`^${strategy} +\\d+\\.\\d % +\\d+\\.\\d % +\\d+\\.\\d % +\\d+\\.\\d % +\\d+\\.\\d\\d  `, 'm'),
      );
    }
  });

  test('as JSON has the figures of each series, and says what was left out and why', async () => {
    const { code, stdout, stderr } = await runCommand(['backtest', '--data', folder, '-o', 'json']);
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ apiVersion: 'cli.stowage.dev/v1', kind: 'Backtest', memory: [] });
    expect(document.cpu[0]).toMatchObject({ source: folder, series: 1 });
    expect(document.cpu[0].strategies).toHaveLength(5);
    expect(document.cpu[0].strategies[0].perSeries[0].series).toBe('good');
    expect(document.problems).toEqual([
      expect.stringMatching(/^bad\.csv is left out: bad\.csv, line 2: /),
      'short.csv is left out: it covers less than two days',
    ]);
    expect(stderr).toContain('note: short.csv is left out');
  });

  test('what is no file is left out, and told in words', async () => {
    const odd = join(folder, 'odd');
    mkdirSync(join(odd, 'folder.csv'), { recursive: true });
    symlinkSync(join(odd, 'gone'), join(odd, 'link.csv'));
    execFileSync('mkfifo', [join(odd, 'pipe.csv')]);
    copyFileSync(join(folder, 'good.csv'), join(odd, 'sound.csv'));
    const { code, stdout } = await runCommand(['backtest', '--data', odd, '-o', 'json']);
    expect([code, JSON.parse(stdout).problems]).toEqual([
      0,
      [
        'folder.csv is left out: it is no file',
        'link.csv is left out: there is no such file',
        'pipe.csv is left out: it is no file',
      ],
    ]);
  });

  test('recordings with every flaw are replayed, told in a line each, and give sane figures', async () => {
    const flawed = join(folder, 'flawed');
    mkdirSync(flawed);
    const at = (index: number): string => new Date(index * 300_000).toISOString();
    const lines = (value: (index: number) => number | string, order: (index: number) => number = (index) => index) =>
      Array.from({ length: 1000 }, (_, index) => `${at(order(index))},${value(index)}`).join('\n');
    const files: Readonly<Record<string, string>> = {
      'endless.csv': lines((index) => (index % 50 === 0 ? 'Infinity' : 5)),
      'gap.csv': lines(
        () => 5,
        (index) => (index < 500 ? index : index + 2000),
      ),
      'negative.csv': lines((index) => (index % 3 === 0 ? -1 : 5)),
      'no-number.csv': lines((index) => (index % 3 === 0 ? 'NaN' : 5)),
      'one.csv': `${at(0)},5`,
      'repeated.csv': `${lines(() => 5)}\n${lines(() => 6)}`,
      'unordered.csv': lines(
        (index) => index % 7,
        (index) => 999 - index,
      ),
      'zero.csv': lines(() => 0),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(flawed, name), text);
    const { code, stdout, stderr } = await runCommand(['backtest', '--data', flawed, '-o', 'json']);
    expect(code).toBe(0);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^note: endless\.csv: 20 lines .* are left out$/),
      expect.stringMatching(/^note: gap\.csv: the longest gap is 166\.8 h, after /),
      expect.stringMatching(/^note: negative\.csv: 334 lines .* are left out$/),
      expect.stringMatching(/^note: no-number\.csv: 334 lines .* count as gaps$/),
      'note: one.csv is left out: it covers less than two days',
      expect.stringMatching(/^note: repeated\.csv: 1000 instants are told again, the last value counts; /),
      'note: unordered.csv: lines are not in order of time and were put in order',
    ]);
    const [comparison] = JSON.parse(stdout).cpu;
    expect(comparison.series).toBe(7);
    for (const { perSeries, pooled } of comparison.strategies)
      for (const { slack, underProvisioned, deficit, changesPerDay } of [...perSeries, pooled]) {
        for (const share of [slack, underProvisioned, deficit]) expect(share >= 0 && share <= 1).toBe(true);
        expect(changesPerDay).toBeLessThan(24);
      }
  });

  test('-o wide shows each series', async () => {
    const { stdout } = await runCommand(['backtest', '--data', folder, '-o', 'wide']);
    expect(stdout).toMatch(/^good +krr-like +/m);
  });

  test('the machine scales what is used, and so no share', async () => {
    const shares = async (cores: string) =>
      JSON.parse((await runCommand(['backtest', '--data', folder, '--cores', cores, '-o', 'json'])).stdout).cpu[0]
        .strategies[4].pooled.slack;
    expect(await shares('8')).toBeCloseTo(await shares('4'), 2);
  });

  test('from a seed has memory traces too, the same each time', async () => {
    const first = await runCommand(['backtest', '--generated', '3']);
    expect(first.stdout).toMatch(/^one hot of ten +stowage +/m);
    expect(first.stdout).toContain('CPU of 40 series (seed 3)');
    expect((await runCommand(['backtest', '--generated', '3'])).stdout).toBe(first.stdout);
  });

  test.each([
    ['nothing to replay', [], 2, 'give --data DIRECTORY, --data prometheus, --generated SEED, or several of them'],
    ['no cores', ['--data', '.', '--cores', '0'], 2, 'Give a number of cores'],
    ['a seed that is none', ['--generated', 'x'], 2, 'Give a whole number'],
    ['a directory that is not there', ['--data', '/nowhere/at/all'], 1, 'give a directory of .csv files'],
    ['a directory without series', ['--data', import.meta.dirname], 1, 'there is no .csv file in it'],
  ])('%s is one line and an exit code', async (_name, args, expected, message) => {
    const { code, stdout, stderr } = await runCommand(['backtest', ...args]);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^stowage: [^\n]*\n$/);
  });
});
