import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
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

test('prints a table with a row an arm, and nothing in a pipe but that', async () => {
  const { code, stdout, stderr } = await runCommand([...short, '--arm', 'stowage', '--seeds', '2']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^### constant: steady load/);
  expect(stdout).toMatch(/^\| hand-tuned \|.*\n\| stowage \|/m);
  expect(stdout).toContain('over 2 seeds');
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

test('--out leaves the table, the figures and a plot of each load', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-lab-'));
  folders.push(folder);
  const { stdout } = await runCommand([...short, '--seeds', '1', '--out', join(folder, 'new')]);
  expect(readdirSync(join(folder, 'new')).sort()).toEqual(['lab-constant.svg', 'lab.json', 'lab.md']);
  expect(readFileSync(join(folder, 'new', 'lab.md'), 'utf8')).toBe(stdout);
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
