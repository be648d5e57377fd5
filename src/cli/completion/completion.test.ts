import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { completionModel } from './completion-model.ts';
import { zshCompletion } from './completion-zsh.ts';

function sample(): Command {
  const program = new Command('sample').addOption(new Option('-o, --output <format>', 'how').choices(['json', 'yaml']));
  program.command('plan').description("a plan, it's safe").option('-f, --filename <path>', 'a [file]').option('--all');
  program.command('shell').addArgument(new Argument('<name>').choices(['bash', 'zsh']));
  program.command('explain').argument('<workload...>');
  return program;
}

describe('the model', () => {
  test('tells switches, words, files and what nobody can guess apart', () => {
    const { commands, options } = completionModel(sample());
    expect(options[0]).toMatchObject({ names: ['-o', '--output'], value: { kind: 'words', words: ['json', 'yaml'] } });
    expect(commands.map(({ name }) => name)).toEqual(['explain', 'plan', 'shell']);
    const [explain, plan, shell] = commands;
    expect(explain?.argument).toEqual({ kind: 'any' });
    expect(plan?.options.map(({ value }) => value.kind)).toEqual(['file', 'none', 'none']);
    expect(plan?.argument).toEqual({ kind: 'none' });
    expect(shell?.argument).toEqual({ kind: 'words', words: ['bash', 'zsh'] });
  });
});

/** The words a real bash offers for a line, the cursor being at its end. */
function completeInBash(script: string, line: string, cwd: string): string[] {
  const words = line.split(' ');
  const program = [
    script,
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${words.length - 1}`,
    `_${words[0]}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', program], { encoding: 'utf8', cwd });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.split('\n').filter((word) => word !== '');
}

describe('bash', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-completion-'));
    writeFileSync(join(folder, 'dump.yaml'), '');
    mkdirSync(join(folder, 'dumps'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['stowage pl', ['plan']],
    ['stowage -n shop ex', ['explain']],
    ['stowage help sta', ['status']],
    ['stowage -o ', ['table', 'wide', 'json', 'yaml']],
    ['stowage plan --output j', ['json']],
    ['stowage -o json plan --assume', ['--assume-enabled']],
    ['stowage plan -f dum', ['dump.yaml', 'dumps']],
    ['stowage status --kubeconf', ['--kubeconfig']],
    ['stowage completion ', ['bash', 'zsh', 'fish']],
    ['stowage manifests ', ['placement', 'rightsizing', 'allocation', 'all']],
    ['stowage explain ', []],
    ['stowage nonsense ', []],
  ])('%j offers %j', async (line, expected) => {
    const { stdout } = await runCommand(['completion', 'bash']);
    expect(completeInBash(stdout, line, folder)).toEqual(expected);
  });

  test('every command of the program is offered', async () => {
    const { stdout } = await runCommand(['completion', 'bash']);
    const help = (await runCommand(['--help'])).stdout;
    const commands = [...help.matchAll(/^ {2}([a-z]+)\b.*/gm)].map(([, name]) => name);
    expect(commands.length).toBeGreaterThan(10);
    expect(new Set(completeInBash(stdout, 'stowage ', folder))).toEqual(new Set(commands));
  });

  test('a sentence with quotes and brackets breaks nothing', () => {
    const script = bashCompletion(completionModel(sample()));
    expect(completeInBash(script, 'sample plan --', folder)).toEqual(
      expect.arrayContaining(['--filename', '--all', '--output', '--help']),
    );
  });
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

describe('zsh and fish', () => {
  const model = completionModel(sample());

  test('name every command with its description, quotes being escaped', () => {
    expect(zshCompletion(model)).toContain(`'plan:a plan, it'\\''s safe'`);
    expect(fishCompletion(model)).toContain(`-a plan -d 'a plan, it\\'s safe'`);
  });

  test('offer words and files where those belong', () => {
    expect(zshCompletion(model)).toContain(`'(-f --filename)'{-f,--filename}'[a \\[file\\]]:value:_files'`);
    expect(zshCompletion(model)).toContain(`shell) _arguments`);
    expect(zshCompletion(model)).toContain(`'*:argument:(bash zsh)'`);
    expect(fishCompletion(model)).toContain(
      `complete -c sample -n '__fish_seen_subcommand_from plan' -s f -l filename -r -F -d 'a [file]'`,
    );
    expect(fishCompletion(model)).toContain(`-s o -l output -x -a 'json yaml' -d 'how'`);
  });

  // Each says itself where the shell is missing: nothing else can tell whether it reads the script.
  test.skipIf(!isInstalled('zsh'))('zsh reads its script', async () => {
    const { stdout } = await runCommand(['completion', 'zsh']);
    const { status, stderr } = spawnSync('zsh', ['-f', '-n'], { input: stdout, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.skipIf(!isInstalled('fish'))('fish reads its script', async () => {
    const { stdout } = await runCommand(['completion', 'fish']);
    const { status, stderr } = spawnSync('fish', ['--no-config', '-n'], { input: stdout, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

test('another shell is a wrong use, and those there are are named', async () => {
  const { code, stderr } = await runCommand(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish');
});
