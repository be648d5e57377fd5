import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { labArms } from '../../lab/arms.ts';
import { labLoads } from '../../lab/loads.ts';
import { runCommand } from '../testing/run-command.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const short = ['lab', '--substrate', 'simulated', '--load', 'constant', '--arm', 'hand-tuned', '--seconds', '20'];

test('--list names every load and arm', async () => {
  const { code, stdout } = await runCommand(['lab', '--list']);
  expect(code).toBe(0);
  for (const { name, describe } of [...labLoads, ...labArms])
    expect(stdout).toContain(`${name.padEnd(18)} ${describe}`);
});

test.each<[string, (text: string) => unknown]>([
  ['json', JSON.parse],
  ['yaml', parse],
])('--list -o %s is one document', async (format, read) => {
  const { code, stdout } = await runCommand(['lab', '--list', '-o', format]);
  const named = (all: readonly { readonly name: string; readonly describe: string }[]) =>
    all.map(({ name, describe }) => ({ name, describe }));
  expect({ code, document: read(stdout) }).toEqual({
    code: 0,
    document: {
      apiVersion: 'cli.stowage.dev/v1',
      kind: 'LabNames',
      loads: named(labLoads),
      arms: named(labArms),
    },
  });
});

test('prints a table with a row an arm, and nothing in a pipe but that', async () => {
  const { code, stdout, stderr } = await runCommand([...short, '--arm', 'stowage', '--seeds', '2']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^### constant: steady load/);
  expect(stdout).toMatch(/^\| hand-tuned \|.*\n\| stowage \|/m);
  expect(stdout).toMatch(/^\| stowage \| 2 \|/m);
});

test('-o json is one document', async () => {
  const { stdout } = await runCommand([...short, '--seeds', '1', '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'Lab',
    substrate: 'simulated',
    seeds: 1,
    rows: [{ load: 'constant', arm: 'hand-tuned', runs: 1 }],
  });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-lab-'));
  folders.push(folder);
  return join(folder, 'new');
}
/** Of the finished runs of a folder. */
const keptSeeds = (folder: string): number[] =>
  readFileSync(join(folder, 'runs.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line): number => JSON.parse(line).seed);

test('--out leaves the finished runs, the table, the figures and a plot of each load', async () => {
  const out = newFolder();
  const { stdout } = await runCommand([...short, '--seeds', '1', '--out', out]);
  expect(readdirSync(out).sort()).toEqual(['lab-constant.svg', 'lab.json', 'lab.md', 'runs.jsonl']);
  expect(readFileSync(join(out, 'lab.md'), 'utf8')).toBe(stdout);
  expect(JSON.parse(readFileSync(join(out, 'runs.jsonl'), 'utf8'))).toMatchObject({
    load: 'constant',
    arm: 'hand-tuned',
    seed: 1,
    seconds: 20,
    substrate: 'simulated',
    version: '1.2.3',
  });
});

describe('an experiment with --out goes on where it was interrupted', () => {
  test('after a kill in the middle of a line: only what is missing is run, and the table is as if nothing had been', async () => {
    const whole = newFolder();
    const { stdout: expected } = await runCommand([...short, '--seeds', '3', '--out', whole]);
    const out = newFolder();
    await runCommand([...short, '--seeds', '2', '--out', out]);
    appendFileSync(join(out, 'runs.jsonl'), readFileSync(join(whole, 'runs.jsonl'), 'utf8').slice(0, 300));
    const { stdout, stderr } = await runCommand([...short, '--seeds', '3', '--out', out]);
    expect(stdout).toBe(expected);
    expect(stderr).toBe(`note: runs found in ${out}, and taken over: 2\n`);
    expect(keptSeeds(out)).toEqual([1, 2, 3]);
  });

  test('what was stopped says how to go on, and its results are there', async () => {
    const out = newFolder();
    await runCommand([...short, '--seeds', '1', '--out', out]);
    const { code, stderr } = await runCommand([...short, '--seeds', '2', '--out', out], {
      signal: AbortSignal.abort(new Error('stopped')),
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`note: finished runs are in ${out}; the same command goes on with the rest`);
    expect(readFileSync(join(out, 'lab.md'), 'utf8')).toMatch(/^\| hand-tuned \| 1 \|/m);
  });

  test('arms and seeds may come later; each row says how many seeds it has', async () => {
    const out = newFolder();
    await runCommand([...short, '--seeds', '3', '--out', out]);
    const { stdout } = await runCommand([...short, '--arm', 'shares-request', '--seeds', '1', '--out', out]);
    expect(stdout).toMatch(/^\| shares-request \| 1 \|.*\n\| hand-tuned \| 3 \|/m);
    expect(keptSeeds(out)).toEqual([1, 2, 3, 1]);
  });

  test('runs of other settings, other rules or an arm that is no more are never mixed in, and are kept', async () => {
    const out = newFolder();
    const { stdout: expected } = await runCommand([...short, '--seeds', '1', '--out', out]);
    const path = join(out, 'runs.jsonl');
    const run = JSON.parse(readFileSync(path, 'utf8'));
    const others = [
      { seconds: 21 },
      { version: '1.2.2' },
      { machine: 'Linux 5.4' },
      { substrate: 'kernel' },
      { code: '000000000000' },
      { arm: 'guessing' },
    ];
    writeFileSync(path, others.map((other) => `${JSON.stringify({ ...run, ...other })}\n`).join(''));
    const { stdout, stderr } = await runCommand([...short, '--seeds', '1', '--out', out]);
    expect(stdout).toBe(expected);
    expect(stderr).toBe(
      `note: runs found in ${out}, but made under other settings or by other code, and left out: 6\n`,
    );
    expect(keptSeeds(out)).toHaveLength(7);
  });
});

test.each([
  [['--load', 'storm'], /--load storm: there is none of this name; known: constant, square-30/],
  [['--arm', 'magic'], /--arm magic: there is none of this name; known: static-equal/],
  [['--seconds', '10'], /Give whole seconds, from 20 to 3600/],
  [['--seeds', '0'], /Give a whole number from 1 to 99/],
])('%j is refused in one sentence', async (args, message) => {
  const { code, stderr } = await runCommand(['lab', '--substrate', 'simulated', ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
