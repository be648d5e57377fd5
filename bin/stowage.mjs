#!/usr/bin/env node
/**
 * Starts Stowage on a Node that can run it: this one if it strips types, else the pinned one from node_modules, else the
 * compiled dist/. Plain JavaScript for Node >= 20.19, standing on nothing but Node, so that it can always say what is wrong.
 */
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceEntry = join(root, 'src', 'main.ts');
const builtEntry = join(root, 'dist', 'main.mjs');
const pinnedNode = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
const args = process.argv.slice(2);

/** Options of the program that take a value as the next word; needed to tell the command from such a value. */
const OPTIONS_WITH_VALUE = new Set(['--kubeconfig', '--context', '-n', '--namespace', '-o', '--output']);

/** Root certificates are read when they are needed, not as soon as TLS is loaded: see src/kube/transport/root-certificates.ts. */
const LATE_ROOTS = '--use-openssl-ca';
/** Node takes one of these; whoever gives one has chosen. */
const CHOICES_OF_ROOTS = [LATE_ROOTS, '--use-bundled-ca', '--use-system-ca'];
/** A heap that grows in small steps; without compilers to machine code, and without Node's snapshot: the pages of both would stay resident. */
const SMALL_NODE = [
  '--optimize-for-size',
  '--no-sparkplug',
  '--no-maglev',
  '--no-opt',
  '--no-node-snapshot',
  LATE_ROOTS,
];
/** Old objects are collected when there is a tenth more of them, and marking begins well before: passes leave much garbage behind. */
const EARLY_COLLECTIONS = [
  '--heap-growing-percent=10',
  '--incremental-marking-soft-trigger=60',
  '--incremental-marking-hard-trigger=40',
];
/**
 * Flags of Node by command. A small young generation keeps memory near the live data. What each brings: docs/performance.md.
 * Node and the C library read flags and environment at start only, hence the second exec.
 */
const NODE_FLAGS = {
  operator: ['--max-semi-space-size=2', ...EARLY_COLLECTIONS, ...SMALL_NODE],
  agent: ['--max-semi-space-size=1', ...EARLY_COLLECTIONS, ...SMALL_NODE],
};
/** Settings of glibc's malloc by command: one arena instead of one a thread, and freed buffers go back to the system. */
const ENVIRONMENT = {
  operator: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '8192', MALLOC_TRIM_THRESHOLD_: '131072' },
  agent: {
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '8192',
    MALLOC_TRIM_THRESHOLD_: '131072',
    UV_THREADPOOL_SIZE: '1',
  },
};

function commandOf(words) {
  for (let index = 0; index < words.length; index++) {
    if (OPTIONS_WITH_VALUE.has(words[index])) index++;
    else if (!words[index].startsWith('-')) return words[index];
  }
  return undefined;
}

function hasFlag(flag) {
  const nameOf = (word) =>
    word
      .replaceAll('_', '-')
      .replace(/=.*/, '')
      .replace(/^--no-/, '--');
  const given = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  return given.some((word) => nameOf(word) === nameOf(flag));
}

function isMissing(flag) {
  if (flag !== LATE_ROOTS) return !hasFlag(flag);
  // Before, Node could not be asked for all that it would trust.
  const canReadLate = Number.parseInt(process.versions.node, 10) >= 24;
  return canReadLate && process.env.NODE_USE_SYSTEM_CA !== '1' && !CHOICES_OF_ROOTS.some(hasFlag);
}

/** Ends with one line for people. Exit code 1: a failure, not a wrong use of the command line. */
function fail(sentence) {
  process.stderr.write(`stowage: ${sentence}\n`);
  process.exit(1);
}

/** Replaces this process where Node can, so that nothing stays in memory; else runs a child as if it were this process. */
async function runWith(node, flags, entry) {
  // Flags given by hand stay, but for another Node they may mean nothing.
  const given = node === process.execPath ? process.execArgv : [];
  const argv = [...given, ...flags, entry, ...args];
  // What the user has set wins.
  const env = { ...ENVIRONMENT[command], ...process.env };
  if (typeof process.execve === 'function') process.execve(node, [node, ...argv], env);
  // Loaded only where they are needed: they would stay in the memory of agent and operator.
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  const child = spawn(node, argv, { stdio: 'inherit', env });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`cannot start ${node}: ${error.message}. Run \`npm ci\` in ${root} to repair it.`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // Die of the same signal, so that a shell or supervisor sees what really happened.
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000);
  });
}

async function runHere(entry) {
  // Skips compiling on the next start. Kept inside node_modules: nothing is left elsewhere, and `npm ci` clears it. Not for a build
  // that runs for weeks, as Node keeps in memory what it has read of the cache; for the source it is worth that, types and all.
  if (entry === sourceEntry || NODE_FLAGS[command] === undefined)
    module.enableCompileCache?.(join(root, 'node_modules', '.cache', 'stowage'));
  const { main } = await import(pathToFileURL(entry).href);
  process.exitCode = await main(args);
}

function dependenciesInstalled() {
  try {
    createRequire(import.meta.url).resolve('commander');
    return true;
  } catch {
    return false;
  }
}

const command = commandOf(args);
// Node refuses to strip types below node_modules, so an installed package runs its dist/, as does the image.
const hasSource = existsSync(sourceEntry) && !sourceEntry.includes(`${sep}node_modules${sep}`);
const stripsTypes = Boolean(process.features.typescript);
const missingFlags = (NODE_FLAGS[command] ?? []).filter(isMissing);

if (hasSource && (stripsTypes || existsSync(pinnedNode))) {
  if (!dependenciesInstalled())
    fail(`the dependencies are not installed. Run \`npm install\` in ${root}, or start with \`npm start\`.`);
  const node = stripsTypes ? process.execPath : pinnedNode;
  if (node === process.execPath && missingFlags.length === 0) await runHere(sourceEntry);
  else await runWith(node, missingFlags, fileURLToPath(import.meta.url));
} else if (existsSync(builtEntry)) {
  if (missingFlags.length === 0) await runHere(builtEntry);
  else await runWith(process.execPath, missingFlags, fileURLToPath(import.meta.url));
} else {
  fail(
    `Node ${process.versions.node} cannot run TypeScript, and neither the pinned Node (${pinnedNode}) nor a build (${builtEntry}) is there. ` +
      'Use Node 24 or newer, or run `npm install` for the pinned one, or `npm run build`.',
  );
}
