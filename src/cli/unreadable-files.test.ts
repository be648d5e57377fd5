/** What a file that is not there, or is none, is told as: in words, with the option that names it, and never as the system says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from './testing/run-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-unreadable-'));
  writeFileSync(join(folder, 'file'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const none = '{folder}/none';
const prometheus = ['backtest', '--data', 'prometheus', '--prometheus', 'http://localhost:9'];
const lab = ['lab', '--substrate', 'simulated', '--load', 'constant', '--arm', 'stowage', '--seconds', '20'];

test.each([
  [['plan', '-f', none], '-f {folder}/none: there is no such file or folder.'],
  [['plan', '-f', '{folder}/file/x'], '-f {folder}/file/x: a part of the path is no folder.'],
  [
    ['plan', '-f', 'test/fixtures/manifests', '-c', none],
    '{folder}/none: there is no such file; name another with --config',
  ],
  [
    ['plan', '-f', 'test/fixtures/manifests', '--prices', '{folder}'],
    '{folder}: it is a folder; name another with --prices',
  ],
  [['plan', '--kubeconfig', '{folder}'], 'Cannot read the kubeconfig {folder}: it is a folder. Name another'],
  [['journal', '-f', none], "-f {folder}/none: there is no such file; give the operator's log"],
  [['profiles', 'import', '{folder}'], '{folder} cannot be read: it is a folder; give a file'],
  [['backtest', '--data', none], '--data {folder}/none: there is no such folder; give a directory of .csv files'],
  [['backtest', '--data', '{folder}/file'], '--data {folder}/file: it is no folder; give a directory of .csv files'],
  [[...prometheus, '--prometheus-token', none], '--prometheus-token {folder}/none: there is no such file'],
  [[...prometheus, '--prometheus-ca', '{folder}'], '--prometheus-ca {folder}: it is a folder'],
  [[...lab, '--out', '{folder}/file'], '{folder}/file: it is a file; name a folder'],
  [['simulate', none], 'there is no scenario {folder}/none: there is no such file'],
  [
    ['simulate', 'week', '--html', '{folder}/none/x'],
    '--html {folder}/none/x: cannot be written: there is no such folder; make it',
  ],
])('%j', async (args, message) => {
  const inFolder = (text: string): string => text.replaceAll('{folder}', folder);
  const { code, stdout, stderr } = await runCommand(args.map(inFolder));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(inFolder(message));
  expect(stderr).toMatch(/^stowage: [^\n]*\n$/);
});
