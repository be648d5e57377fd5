import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createReportFolder } from './report-folder.ts';
import { comparisonText, reportText } from './testing/reports.ts';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-reports-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, [name, text]] of Object.entries(files).entries()) {
    writeFileSync(join(folder, name), text);
    // The later in the list, the newer.
    utimesSync(join(folder, name), 1000 + index, 1000 + index);
  }
  return folder;
}

describe('the list of reports', () => {
  test('has the newest first, with how each ended and the figures of the list', async () => {
    const folder = folderWith({
      'old.json': reportText(),
      'new.json': reportText({ asserts: [{ text: 'evictions == 0', actual: 3, limit: 0, ok: false }] }),
      'both.json': comparisonText(),
    });
    const { files, omitted, problem } = await createReportFolder(folder).list(5000);
    expect([omitted, problem]).toEqual([0, undefined]);
    expect(files.map(({ file, runs }) => [file, runs.map(({ hasPassed }) => hasPassed)])).toEqual([
      ['both.json', [true, true]],
      ['new.json', [false]],
      ['old.json', [true]],
    ]);
    expect(files[2]).toMatchObject({ writtenAt: 1_000_000 });
    expect(files[2]?.runs[0]?.figures.map(({ name }) => name)).toEqual([
      'hours',
      'savingPercent',
      'spotPercent',
      'evictions',
    ]);
  });

  test('a bad file is told, and hides no other', async () => {
    const folder = folderWith({ 'good.json': reportText(), 'bad.json': '{', 'large.json': ' '.repeat(600_000) });
    const { files } = await createReportFolder(folder).list(0);
    expect(files.map(({ file, problem }) => [file, problem?.slice(0, 35)])).toEqual([
      ['large.json', 'It has 600000 bytes, and a report a'],
      ['bad.json', 'This is no report of a simulation: '],
      ['good.json', undefined],
    ]);
  });

  test('follows what is written, changed and deleted', async () => {
    const folder = folderWith({ 'a.json': '{' });
    const reports = createReportFolder(folder);
    expect((await reports.list(0)).files[0]?.problem).toBeDefined();
    writeFileSync(join(folder, 'a.json'), reportText());
    expect((await reports.list(0)).files[0]?.runs[0]?.scenario).toBe('storm');
    rmSync(join(folder, 'a.json'));
    expect((await reports.list(0)).files).toEqual([]);
  });

  test('knows files only, and those of plain names; a link to one is one, as Kubernetes mounts them', async () => {
    const folder = folderWith({ '.hidden.json': reportText(), 'notes.txt': 'x', 'a b.json': reportText() });
    mkdirSync(join(folder, 'folder.json'));
    mkdirSync(join(folder, '..data'));
    writeFileSync(join(folder, '..data', 'linked.json'), reportText());
    symlinkSync(join('..data', 'linked.json'), join(folder, 'linked.json'));
    symlinkSync('nowhere', join(folder, 'broken.json'));
    const { files } = await createReportFolder(folder).list(0);
    expect(files.map(({ file }) => file).sort()).toEqual(['a b.json', 'linked.json']);
  });

  test('is bounded', async () => {
    const files = Object.fromEntries(Array.from({ length: 103 }, (_, index) => [`r${index}.json`, '{}']));
    const list = await createReportFolder(folderWith(files)).list(0);
    expect([list.files.length, list.omitted, list.files[0]?.file]).toEqual([100, 3, 'r102.json']);
  });

  test.each([
    ['nothing is configured', '', undefined, undefined],
    ['the folder is missing', '/nowhere/at/all', '/nowhere/at/all', /no such folder.*web\.reports/],
    ['it is a file', import.meta.filename, import.meta.filename, /no folder.*web\.reports/],
  ])('%s', async (_name, folder, told, problem) => {
    const list = await createReportFolder(folder).list(0);
    expect([list.folder, list.files]).toEqual([told, []]);
    if (problem === undefined) expect(list.problem).toBeUndefined();
    else expect(list.problem).toMatch(problem);
  });
});

describe('one report', () => {
  test('is told whole', async () => {
    const folder = folderWith({ 'a.json': reportText() });
    expect(await createReportFolder(folder).read('a.json', 7)).toMatchObject({
      at: 7,
      file: 'a.json',
      writtenAt: 1_000_000,
      runs: [{ scenario: 'storm', pools: [{ name: 'on-demand' }, { name: 'spot' }] }],
    });
  });

  test('that is none is told to be none', async () => {
    const report = await createReportFolder(folderWith({ 'a.json': '[]' })).read('a.json', 7);
    expect(report).toEqual({ problem: expect.stringContaining('it is neither') });
  });

  test.each([
    '../outside.json',
    '..',
    '',
    '.hidden.json',
    'folder/inside.json',
    'folder\\inside.json',
    'missing.json',
    'outside.json\0.json',
    `${'a'.repeat(300)}.json`,
    '/etc/hostname',
  ])('%j is none', async (name) => {
    const outer = folderWith({ 'outside.json': reportText(), '.hidden.json': reportText() });
    const folder = join(outer, 'reports');
    mkdirSync(join(folder, 'folder'), { recursive: true });
    writeFileSync(join(folder, 'folder', 'inside.json'), reportText());
    writeFileSync(join(folder, '.hidden.json'), reportText());
    expect(await createReportFolder(folder).read(name, 0)).toBeUndefined();
  });
});
