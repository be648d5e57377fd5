import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    ['nothing to replay', [], 2, 'give --data DIRECTORY, --generated SEED, or both'],
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
