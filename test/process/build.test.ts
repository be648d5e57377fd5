/** The build, in a throw-away checkout, on the oldest Node that is supported (where there is one, else on this one). */
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Checkout,
  createCheckout,
  type Finished,
  findOldNode,
  type RunOptions,
  repository,
  run,
} from './checkout.ts';

const node = (await findOldNode()) ?? process.execPath;
let made: Checkout;

beforeAll(async () => {
  made = createCheckout(['src', 'scripts', 'package.json']);
  symlinkSync(join(repository, 'node_modules'), join(made.path, 'node_modules'));
  const { code, stderr } = await run(node, [join(made.path, 'scripts/build.mjs')], { cwd: made.path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
afterAll(() => made[Symbol.dispose]());

/** Without the launcher, which would find the pinned Node. */
function built(args: readonly string[], onOutput: RunOptions['onOutput'] = () => {}): Promise<Finished> {
  const entry = JSON.stringify(join(made.path, 'dist/main.mjs'));
  const script = `process.exitCode = await (await import(${entry})).main(process.argv.slice(1))`;
  return run(node, ['--input-type=module', '--eval', script, '--', ...args], { cwd: made.path, onOutput });
}

describe('dist/', () => {
  test('has the pages of the dashboard, which weigh at most 60 KB, packed, on the first load', () => {
    const folder = join(made.path, 'dist/client');
    const files = readdirSync(folder);
    expect(files.sort()).toEqual(['app.js', 'icon.svg', 'index.html', 'style.css']);
    const packed = files.map((name) => gzipSync(readFileSync(join(folder, name))).length);
    expect(packed.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60 * 1024);
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).not.toMatch(/https?:|<style|\sstyle=|\son[a-z]+=/);
  });

  test('knows its version', async () => {
    expect(await built(['version'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^stowage \d+\.\d+\.\d+ /),
    });
  });

  test('brings what an old Node lacks', async () => {
    const entry = JSON.stringify(join(made.path, 'dist/main.mjs'));
    const script = `await import(${entry}); console.log(JSON.stringify([...Map.groupBy([1, 2, 3], (n) => n % 2)]), typeof Promise.withResolvers);`;
    const { stdout } = await run(node, ['--input-type=module', '--eval', script], { cwd: made.path });
    expect(stdout).toBe('[[1,[1,3]],[0,[2]]] function\n');
  });

  test('plans', async () => {
    const manifest = join(repository, 'test/fixtures/manifests/guestbook.yaml');
    const { code, stdout } = await built(['plan', '-f', manifest, '--assume-enabled', '--spot-percentage', '50']);
    expect(code).toBe(0);
    expect(stdout).toContain('Deployment default/frontend: 3 replicas, 50 % spot');
  });

  test('has a cluster and an operator in it', async () => {
    const hasSteeredPods = /frontend .* actual [1-9]/;
    let shown: Promise<readonly string[]> | undefined;
    const { code, stdout, stderr } = await built(['demo'], (child, soFar) => {
      const [, dashboard] = /The dashboard is at (\S+)/.exec(soFar) ?? [];
      if (shown !== undefined || dashboard === undefined || !hasSteeredPods.test(soFar)) return;
      const read = async (path: string): Promise<string> => (await fetch(dashboard + path)).text();
      shown = Promise.all(['', 'app.js', 'style.css', 'api/overview'].map(read));
      void shown.finally(() => child.kill('SIGINT'));
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const folder = join(made.path, 'dist/client');
    const [page, script, style, overview = ''] = (await shown) ?? [];
    const files = ['index.html', 'app.js', 'style.css'].map((name) => readFileSync(join(folder, name), 'utf8'));
    expect([page, script, style]).toEqual(files);
    expect(JSON.parse(overview)).toMatchObject({ operator: { isLeader: true } });
    expect(stdout).toContain('0 chapters, 0 evictions, seed 1.');
  });

  test('is not asked for where it cannot be made: production installs go on', async () => {
    using bare = createCheckout(['scripts', 'package.json']);
    const script = join(bare.path, 'scripts/build.mjs');
    expect(await run(node, [script, '--if-possible'], { cwd: bare.path })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(await run(node, [script], { cwd: bare.path })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Run `npm install`'),
    });
  });
});
