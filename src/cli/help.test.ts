import { expect, test } from 'vitest';
import { runCommand } from './testing/run-command.ts';

test('help COMMAND is COMMAND --help', async () => {
  const told = await runCommand(['help', 'plan']);
  expect(told).toEqual(await runCommand(['plan', '--help']));
  expect(told.code).toBe(0);
});

test('help alone is --help', async () => {
  expect(await runCommand(['help'])).toEqual(await runCommand(['--help']));
});

test('help of a command that there is not is a wrong use, told as the command itself would be', async () => {
  const { code, stdout, stderr } = await runCommand(['help', 'plna']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^stowage: unknown command 'plna' \(Did you mean plan\?\)\. Run [^\n]*\n$/);
});

test('--version is what everybody tries first', async () => {
  expect(await runCommand(['--version'])).toEqual(await runCommand(['version']));
});
