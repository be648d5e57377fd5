/** The installer in throw-away checkouts whose one dependency is a local archive, so that npm needs no network. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Checkout, createCheckout, type Finished, findOldNode, plainEnvironment, run } from './checkout.ts';

const oldNode = await findOldNode();
let archive: Uint8Array;
let packageLock: string;

const npmCache = createCheckout([]);
afterAll(() => npmCache[Symbol.dispose]());

/** Offline proves that nothing is fetched; a cache of its own, that nothing comes from the machine's. */
const env = {
  ...plainEnvironment(),
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
  npm_config_cache: npmCache.path,
};

const packageJson = JSON.stringify({
  name: 'probe',
  version: '1.0.0',
  dependencies: { greeter: 'file:greeter-1.0.0.tgz' },
});

beforeAll(async () => {
  using made = createCheckout([]);
  made.write('greeter/package.json', '{"name":"greeter","version":"1.0.0"}');
  await run('npm', ['pack', './greeter'], { cwd: made.path, env });
  made.write('package.json', packageJson);
  await run('npm', ['install', '--package-lock-only', '--no-audit'], { cwd: made.path, env });
  archive = readFileSync(join(made.path, 'greeter-1.0.0.tgz'));
  packageLock = readFileSync(join(made.path, 'package-lock.json'), 'utf8');
});

function freshCheckout(): Checkout {
  const made = createCheckout(['scripts/ensure-deps.mjs']);
  made.write('package.json', packageJson);
  made.write('package-lock.json', packageLock);
  made.writeBytes('greeter-1.0.0.tgz', archive);
  return made;
}

const ensure = (made: Checkout, node = process.execPath): Promise<Finished> =>
  run(node, [join(made.path, 'scripts/ensure-deps.mjs')], { cwd: made.path, env });

const installing = (result: Finished): boolean => result.stderr.includes('installing dependencies');

test('scripts that may install look Node up anew, as a shell remembers the old one it began with, and leave no shell between npm and it', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const installing = Object.entries(scripts).filter(([, line]) => line.includes('ensure-deps'));
  expect(installing.map(([name]) => name)).toEqual([
    'start',
    'test',
    'test:cluster',
    'test:build',
    'test:node',
    'bench:node',
  ]);
  for (const [, line] of installing) expect(line).toMatch(/^node scripts\/ensure-deps\.mjs && exec env node \S+/);
});

describe('ensure-deps', () => {
  test('installs what is missing with one line, then stays silent', async () => {
    using made = freshCheckout();
    const first = await ensure(made);
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/^stowage: installing dependencies \(nothing is installed yet\).*\n$/);
    expect(made.has('node_modules/greeter/package.json')).toBe(true);
    expect(await ensure(made)).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  });

  test('a package that was deleted, or locked at another version, is installed again', async () => {
    using made = freshCheckout();
    await ensure(made);
    rmSync(join(made.path, 'node_modules/greeter'), { recursive: true });
    expect((await ensure(made)).stderr).toContain('node_modules/greeter is missing');
    const installed = readFileSync(join(made.path, 'node_modules/.package-lock.json'), 'utf8');
    made.write(
      'node_modules/.package-lock.json',
      installed.replace('"version": "1.0.0",\n      "resolved"', '"version": "0.9.0",\n      "resolved"'),
    );
    expect((await ensure(made)).stderr).toContain('node_modules/greeter is 0.9.0, wanted 1.0.0');
    expect(installing(await ensure(made))).toBe(false);
  });

  test('of several at once exactly one installs and all succeed', async () => {
    using made = freshCheckout();
    const results = await Promise.all(Array.from({ length: 4 }, () => ensure(made)));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(results.filter(installing)).toHaveLength(1);
    expect(made.has('node_modules/greeter/package.json')).toBe(true);
  });

  test('a failing npm is shown, with one sentence on what to do', async () => {
    using made = freshCheckout();
    rmSync(join(made.path, 'greeter-1.0.0.tgz'));
    rmSync(join(npmCache.path, '_cacache'), { recursive: true, force: true });
    const result = await ensure(made);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('ENOENT');
    expect(result.stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^stowage: the dependencies could not be installed\. .* run `npm ci` in /,
    );
  });

  test.skipIf(oldNode === undefined)(
    'works on a Node that cannot run TypeScript (skipped where PATH has none)',
    async () => {
      using made = freshCheckout();
      expect(await ensure(made, oldNode)).toMatchObject({ code: 0 });
      expect(made.has('node_modules/greeter/package.json')).toBe(true);
    },
  );
});
