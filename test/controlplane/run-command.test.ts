import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const module = join(import.meta.dirname, 'run-command.ts');

/** A process of its own that runs this body of a command; `at` is called with what it has said so far. */
function run(body: string, at: (said: string, kill: (signal: NodeJS.Signals) => void) => void = () => {}) {
  const source = `
    import { writeFileSync } from 'node:fs';
    import { runCommand } from ${JSON.stringify(module)};
    await runCommand('suites of a test', async (command) => {${body}});`;
  return new Promise<{ readonly code: number | null; readonly said: string; readonly told: string }>((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', source]);
    let said = '';
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      at(said, (signal) => void child.kill(signal));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      told += chunk.toString();
    });
    child.once('close', (code) => resolve({ code, said, told }));
  });
}
const withoutTimes = (text: string): string => text.replace(/ in \d+ s$/gm, '');

test('each part and the whole end with a line; what a part said is shown when it has ended', async () => {
  const { code, said, told } = await run(`
    const part = (name, code) => command.runPart(name, async (output) => {
      writeFileSync(output, name + ' says so\\n');
      return code;
    });
    const codes = [await part('good', 0), await part('bad', 3)];
    return command.conclude(Math.max(...codes) === 0, 'a cluster');`);
  expect(code).toBe(1);
  expect(said).toBe('good says so\nbad says so\n');
  expect(withoutTimes(told)).toBe(
    [
      'suites of a test: part good passed',
      'suites of a test: part bad FAILED',
      'suites of a test: suites FAILED on a cluster',
      '',
    ].join('\n'),
  );
});

test('what goes wrong is told in one line', async () => {
  expect(await run(`throw new Error('Go is missing: install it');`)).toEqual({
    code: 1,
    said: '',
    told: 'suites of a test: Go is missing: install it\n',
  });
});

test('a signal ends a build under way, and no part begins any more', async () => {
  const { code, told } = await run(
    `
    console.log('building');
    const build = setInterval(() => {}, 60_000);
    await new Promise((resolve) => command.signal.addEventListener('abort', resolve));
    clearInterval(build);
    command.report(command.signal.reason.message);
    const code = await command.runPart('late', () => Promise.resolve(0));
    return command.conclude(code === 0);`,
    (said, kill) => {
      if (said.includes('building')) kill('SIGTERM');
    },
  );
  expect(code).toBe(1);
  expect(withoutTimes(told)).toBe('suites of a test: stopped by SIGTERM\nsuites of a test: suites FAILED\n');
});
