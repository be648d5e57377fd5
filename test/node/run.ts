/** `npm run test:node`: builds what is missing, runs the suites on real nodes in a network namespace of their own, and proves that nothing is left behind. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries, formatElapsed } from '../controlplane/build.ts';
import { insideNamespace } from './host/network-namespace.ts';
import { createNodeRun, destroyNodeRun, removeAbandonedNodeRuns } from './host/node-run.ts';
import { obstacles } from './host/requirements.ts';
import { compareSnapshots, takeSnapshot } from './host/snapshot.ts';
import { countSuites } from './host/suites.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';

const root = resolve(import.meta.dirname, '..', '..');
const clock = createSystemClock();
const startMillis = clock.now();
const report = (line: string): void => void process.stderr.write(`real nodes: ${line}\n`);

/** Runs vitest; signals are passed on, and its global tear-down then stops the cluster. */
function runVitest(name: string, wrap: (command: string[]) => string[], env: Record<string, string>): Promise<number> {
  const results = process.env['STOWAGE_TEST_RESULTS'];
  const reporters =
    results === undefined
      ? []
      : ['--reporter=default', '--reporter=json', `--outputFile.json=${join(results, `${name}.json`)}`];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(root, 'vitest.node.config.ts');
  const mode = name === 'node-leftovers' ? ['--mode', 'leftovers'] : process.argv.slice(2);
  const [command = '', ...args] = wrap([process.execPath, vitest, 'run', '--config', config, ...reporters, ...mode]);
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.once('error', fail);
    child.once('close', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      done(code ?? 1);
    });
  });
}

async function runOnCluster(): Promise<number> {
  const run = createNodeRun();
  try {
    return await runVitest('node', (command) => insideNamespace(run.directory, command), {
      STOWAGE_NODE_RUN: run.directory,
    });
  } finally {
    await destroyNodeRun(run, clock);
  }
}

async function main(): Promise<number> {
  const found = obstacles();
  if (found.length > 0) {
    const { files, tests } = countSuites(join(root, 'test', 'node'));
    report(`SKIPPED ${tests} tests in ${files} files, as a real node cannot run here:\n  ${found.join('\n  ')}`);
    return 0;
  }
  const options = { clock, env: process.env, report };
  await ensureBinaries(options);
  const { directory } = await ensureNodePrograms(options);
  for (const abandoned of await removeAbandonedNodeRuns(clock))
    report(`removed what a killed run had left: ${abandoned}`);
  const before = takeSnapshot(directory);
  // Suites named on the command line are run alone.
  const isWhole = process.argv.length <= 2;
  const leftovers = isWhole ? await runVitest('node-leftovers', (command) => command, {}) : 0;
  const suites = await runOnCluster();
  const left = compareSnapshots(before, takeSnapshot(directory));
  const counts = Object.entries(before).map(([part, lines]) => `${lines.length} ${part}`);
  report(
    left.length === 0
      ? `nothing is left behind: before and after ${counts.join(', ')}`
      : `LEFT BEHIND:\n  ${left.join('\n  ')}`,
  );
  const hasPassed = leftovers === 0 && suites === 0 && left.length === 0;
  report(`suites ${hasPassed ? 'passed' : 'FAILED'} in ${formatElapsed(clock.now() - startMillis)}`);
  return hasPassed ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
