/** The launcher in throw-away checkouts: which Node it takes, what it passes on, and what it says when it cannot start. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Checkout, createCheckout, findOldNode, plainEnvironment, run } from './checkout.ts';

const oldNode = await findOldNode();
const platformNode = `node_modules/node-${process.platform}-${process.arch}/bin/node`;

/** A program that prints how it was started, then ends as its first argument says. */
const program = (tag: string, types: boolean): string => `
export async function main(args${types ? ': readonly string[]' : ''}) {
  const stopped = new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
  console.log(JSON.stringify({ tag: '${tag}', args, flags: process.execArgv }));
  if (args[2] === 'arenas') console.error(process.env.MALLOC_ARENA_MAX);
  if (args[0] === 'die') process.kill(process.pid, 'SIGKILL');
  if (args[0] === 'wait') {
    const alive = setInterval(() => {}, 1000);
    await stopped;
    clearInterval(alive);
    return 7;
  }
  return Number(args[1] ?? 0);
}
`;

function checkout(...parts: ('source' | 'pinned' | 'built' | 'dependencies')[]): Checkout {
  const made = createCheckout(['bin']);
  made.write('package.json', '{"type":"module"}');
  if (parts.includes('source')) made.write('src/main.ts', program('source', true));
  if (parts.includes('built')) made.write('dist/main.mjs', program('built', false));
  if (parts.includes('dependencies')) made.write('node_modules/commander/index.js', '');
  if (parts.includes('pinned')) {
    mkdirSync(join(made.path, platformNode, '..'), { recursive: true });
    copyFileSync(process.execPath, join(made.path, platformNode));
  }
  return made;
}

const smallNode = [
  '--optimize-for-size',
  '--no-sparkplug',
  '--no-maglev',
  '--no-opt',
  '--no-node-snapshot',
  '--use-openssl-ca',
];
const earlyCollections = [
  '--heap-growing-percent=10',
  '--incremental-marking-soft-trigger=60',
  '--incremental-marking-hard-trigger=40',
];
const operatorFlags = ['--max-semi-space-size=2', ...earlyCollections, ...smallNode];
const start = (node: string, made: Checkout, args: readonly string[], options: Parameters<typeof run>[2] = {}) =>
  run(node, [join(made.path, 'bin/stowage.mjs'), ...args], { cwd: made.path, ...options });

describe('on a Node that strips types', () => {
  test('the source runs in this very process, with its arguments and exit code', async () => {
    using made = checkout('source', 'dependencies');
    const result = await start(process.execPath, made, ['plan', '3', '--', 'a b']);
    expect(JSON.parse(result.stdout)).toEqual({ tag: 'source', args: ['plan', '3', '--', 'a b'], flags: [] });
    expect(result.code).toBe(3);
    expect(result.stderr).toBe('');
  });

  test.each([
    ['operator', ['operator']],
    ['operator behind global options', ['--kubeconfig', 'file', '-n', 'demo', '--debug', 'operator']],
  ])('%s gets a heap that grows in small steps', async (_name, args) => {
    using made = checkout('source', 'dependencies');
    const { stdout } = await start(process.execPath, made, args);
    expect(JSON.parse(stdout)).toEqual({
      tag: 'source',
      args,
      flags: operatorFlags,
    });
  });

  test('a namespace called operator is not the command', async () => {
    using made = checkout('source', 'dependencies');
    const { stdout } = await start(process.execPath, made, ['-n', 'operator', 'status']);
    expect(JSON.parse(stdout).flags).toEqual([]);
  });

  test('flags of the user win over ours', async () => {
    using made = checkout('source', 'dependencies');
    const env = { ...plainEnvironment(), NODE_OPTIONS: '--max_semi_space_size=16' };
    const { stdout } = await start(process.execPath, made, ['operator'], { env });
    expect(JSON.parse(stdout).flags).toEqual(operatorFlags.slice(1));
  });

  test.each([
    ['NODE_OPTIONS', '--use-system-ca'],
    ['NODE_OPTIONS', '--use-bundled-ca'],
    ['NODE_USE_SYSTEM_CA', '1'],
  ])('who says whom to trust (%s %s) is heard', async (name, value) => {
    using made = checkout('source', 'dependencies');
    const env = { ...plainEnvironment(), [name]: value };
    const { code, stdout } = await start(process.execPath, made, ['operator'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).flags).toEqual(operatorFlags.slice(0, -1));
  });

  test('flags given to Node by hand stay', async () => {
    using made = checkout('source', 'dependencies');
    const command = ['--max-old-space-size=300', join(made.path, 'bin/stowage.mjs'), 'agent'];
    const { stdout } = await run(process.execPath, command, { cwd: made.path });
    const given = ['--max-old-space-size=300', '--max-semi-space-size=1'];
    expect(JSON.parse(stdout).flags).toEqual([...given, ...earlyCollections, ...smallNode]);
  });

  test('operator gets one arena of malloc, unless the user says otherwise', async () => {
    using made = checkout('source', 'dependencies');
    const arenas = async (env: NodeJS.ProcessEnv, command: string): Promise<string> =>
      (await start(process.execPath, made, [command, '0', 'arenas'], { env })).stderr.trim();
    expect(await arenas(plainEnvironment(), 'operator')).toBe('1');
    expect(await arenas({ ...plainEnvironment(), MALLOC_ARENA_MAX: '4' }, 'operator')).toBe('4');
    expect(await arenas(plainEnvironment(), 'plan')).toBe('undefined');
  });

  test('a build that is alone, as in the image, runs without node_modules', async () => {
    using made = checkout('built');
    const { code, stdout, stderr } = await start(process.execPath, made, ['version']);
    expect({ code, stderr, tag: JSON.parse(stdout).tag }).toEqual({ code: 0, stderr: '', tag: 'built' });
  });

  test.each([
    ['operator', 'built', false],
    ['agent', 'built', false],
    ['plan', 'built', true],
    ['operator', 'source', true],
  ] as const)(
    '%s of a checkout with its %s keeps what was compiled for the next start: %s',
    async (name, what, isKept) => {
      using made = checkout(what, 'dependencies');
      expect((await start(process.execPath, made, [name])).code).toBe(0);
      expect(existsSync(join(made.path, 'node_modules/.cache/stowage'))).toBe(isKept);
    },
  );

  test('without dependencies it says how to get them', async () => {
    using made = checkout('source');
    const result = await start(process.execPath, made, ['version']);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^stowage: the dependencies are not installed\. Run `npm install` in .*\n$/);
  });
});

describe.skipIf(oldNode === undefined)('on a Node that cannot run TypeScript (skipped where PATH has none)', () => {
  const old = oldNode ?? '';

  test('the pinned Node takes over, with arguments, input, exit code', async () => {
    using made = checkout('source', 'pinned', 'built', 'dependencies');
    const result = await start(old, made, ['operator', '5']);
    expect(JSON.parse(result.stdout)).toEqual({
      tag: 'source',
      args: ['operator', '5'],
      flags: operatorFlags,
    });
    expect(result.code).toBe(5);
    expect(result.stderr).toBe('');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('%s reaches the program, which ends in its own way', async (signal) => {
    using made = checkout('source', 'pinned', 'dependencies');
    const result = await start(old, made, ['wait'], { onOutput: (child) => child.kill(signal) });
    expect(result.code).toBe(7);
  });

  test('a program killed by a signal is seen as killed by that signal', async () => {
    using made = checkout('source', 'pinned', 'dependencies');
    const result = await start(old, made, ['die']);
    expect(result.signal).toBe('SIGKILL');
  });

  test('without the pinned Node the build runs', async () => {
    using made = checkout('source', 'built', 'dependencies');
    const { stdout } = await start(old, made, ['version']);
    expect(JSON.parse(stdout)).toEqual({ tag: 'built', args: ['version'], flags: [] });
  });

  test('with neither it says what to do', async () => {
    using made = checkout('source', 'dependencies');
    const result = await start(old, made, ['version']);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^stowage: Node 2\d\.\S+ cannot run TypeScript, .* Use Node 24 or newer, or run `npm install`/,
    );
    expect(result.stderr.trimEnd()).not.toContain('\n');
  });
});
