import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { labArms } from './arms.ts';
import { runExperiment } from './experiment.ts';
import { type KeptRun, openRunFile } from './kept-runs.ts';
import { labLoads } from './loads.ts';
import { createSimulatedSubstrate } from './simulated-substrate.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-runs-'));
  path = join(folder, 'new', 'runs.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const [load, arm] = [
  labLoads.find(({ name }) => name === 'square-30'),
  labArms.find(({ name }) => name === 'static-equal'),
];
/** One with lost replies, and with ceilings in its trace. */
async function aRun(seed: number): Promise<KeptRun> {
  if (load === undefined || arm === undefined) throw new Error('no such load or arm');
  const lengthMillis = 20_000;
  const substrate = createSimulatedSubstrate({ cpus: 2, lengthMillis });
  const figures = await runExperiment({
    substrate,
    load,
    arm,
    seed,
    cpus: 2,
    allocatable: 1800,
    warmUpMillis: 0,
    lengthMillis,
  });
  return { ...figures, seconds: 20, version: '1.2.3', machine: '', code: 'abc' };
}

test('a run comes back as it was kept, lost replies and all', async () => {
  const kept = [await aRun(1), await aRun(2)];
  const file = await openRunFile(path);
  expect(file.runs).toEqual([]);
  for (const run of kept) await file.keep(run);
  expect(file.runs).toEqual(kept);
  const { runs } = await openRunFile(path);
  expect(runs).toEqual(kept);
  expect(runs[0]?.pods.some(({ p95Millis }) => p95Millis === Number.POSITIVE_INFINITY)).toBe(true);
});

test('a line that was cut off is taken away, and the next one is whole', async () => {
  const run = await aRun(1);
  await (await openRunFile(path)).keep(run);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text + text.slice(0, -2));
  const file = await openRunFile(path);
  expect(file.runs).toEqual([run]);
  await file.keep({ ...run, seed: 2 });
  expect((await openRunFile(path)).runs.map(({ seed }) => seed)).toEqual([1, 2]);
});

test.each([
  ['no JSON', 'not JSON'],
  ['{"load":"constant"}', 'arm: '],
])('a line that is %s is named, and nothing is thrown away', async (line, what) => {
  await (await openRunFile(path)).keep(await aRun(1));
  const text = `${readFileSync(path, 'utf8')}${line}\n`;
  writeFileSync(path, text);
  await expect(openRunFile(path)).rejects.toThrow(`${path}:2 is no finished run (${what}`);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test.each([
  ['a folder that is a file', '.', () => writeFileSync(join(folder, 'new'), ''), 'new: it is a file; name a folder.'],
  ['a folder below a file', 'below', () => writeFileSync(join(folder, 'new'), ''), 'a part of the path is no folder'],
  [
    'a file that is a folder',
    '.',
    () => mkdirSync(path, { recursive: true }),
    'runs.jsonl cannot be read: it is a folder.',
  ],
])('%s is told of', async (_, below, make, message) => {
  make();
  const file = join(folder, 'new', below, 'runs.jsonl');
  const opened = openRunFile(file);
  await expect(opened).rejects.toMatchObject({ code: 'LAB_RUNS', message: expect.stringContaining(message) });
});

test('a run that cannot be kept is told of', async () => {
  const file = await openRunFile(path);
  mkdirSync(path);
  const kept = file.keep(await aRun(1));
  await expect(kept).rejects.toMatchObject({
    code: 'LAB_RUNS',
    message: `${path} cannot be written: it is a folder; name a file in it.`,
  });
});
