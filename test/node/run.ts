/** `npm run test:node`: builds what is missing, runs the suites on real nodes in a network namespace of their own, and proves that nothing is left behind. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runVitest } from '../../scripts/run-vitest.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureHelm } from '../chart/helm.ts';
import { ensureBinaries, formatElapsed } from '../controlplane/build.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
import { insideNamespace } from './host/network-namespace.ts';
import { createNodeRun, destroyNodeRun, removeAbandonedNodeRuns, runsOfOthers } from './host/node-run.ts';
import { obstacles } from './host/requirements.ts';
import { compareSnapshots, takeSnapshot } from './host/snapshot.ts';
import { countSuites } from './host/suites.ts';
import { type PartName, parts } from './parts.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';

const root = resolve(import.meta.dirname, '..', '..');
const clock = createSystemClock();
const startMillis = clock.now();
const report = (line: string): void => void process.stderr.write(`real nodes: ${line}\n`);

const config = 'vitest.node.config.ts';
/** Collecting less often costs these short lives nothing but memory, and saves a good part of their CPU. */
const env = { GOGC: '400' };

// The runners pass it on; what has not begun by then does not begin any more.
const stopper = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopper.abort());

interface Suites {
  readonly name: string;
  readonly args: readonly string[];
  /** Inside the run's namespace, where their cluster is booted. */
  readonly isInside: boolean;
  /** What they say is kept until they have ended. */
  readonly isQuiet: boolean;
}

/** Suites in a run of their own: whatever becomes of them, it is found by the run's folder. */
async function runSuites({ name, args, isInside, isQuiet }: Suites): Promise<number> {
  const run = createNodeRun();
  const output = join(run.directory, 'suites.out');
  try {
    const code = await runVitest({
      name,
      config,
      args,
      env: { ...env, STOWAGE_NODE_RUN: run.directory },
      ...(isInside && { wrap: (command) => insideNamespace(run.directory, command) }),
      ...(isQuiet && { output }),
    });
    if (isQuiet) process.stdout.write(readFileSync(output));
    return code;
  } finally {
    await destroyNodeRun(run, clock);
  }
}

async function runPart(part: PartName): Promise<number> {
  if (stopper.signal.aborted) return 1;
  const from = clock.now();
  const isInside = parts[part].nodes.length > 0;
  const code = await runSuites({ name: `node-${part}`, args: ['--mode', part], isInside, isQuiet: true });
  report(`part ${part} ${code === 0 ? 'passed' : 'FAILED'} in ${formatElapsed(clock.now() - from)}`);
  return code;
}

/** Side by side: most of what they do is wait. */
async function runParts(): Promise<number> {
  report('the suites run in parts; each tells how it went when it has ended');
  const codes = await Promise.all([
    runPart('operators'),
    // The shorter one has time for another.
    runPart('kubelet').then(async (code) => Math.max(code, await runPart('leftovers'))),
  ]);
  return Math.max(...codes);
}

/** What the runner would have reported, for who counts results. */
function reportSkipped(tests: number): void {
  const folder = process.env['STOWAGE_TEST_RESULTS'];
  if (folder === undefined) return;
  const counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: tests, numTodoTests: 0, testResults: [] };
  writeFileSync(join(folder, 'node.json'), JSON.stringify(counts));
}

/** What the suite of the installation needs from outside, which is out of reach inside the network namespace. */
async function fetchForInstallation(): Promise<void> {
  const helm = await ensureHelm({ clock, env: process.env });
  if (!helm.ok) report(`the chart is not installed on the nodes: ${helm.reason}`);
  await ensurePrometheus().catch(({ message }: Error) => report(`nothing is scraped: ${message}`));
}

async function main(): Promise<number> {
  const found = obstacles();
  if (found.length > 0) {
    const { files, tests } = countSuites(join(root, 'test', 'node'));
    reportSkipped(tests);
    report(`SKIPPED ${tests} tests in ${files} files, as a real node cannot run here:\n  ${found.join('\n  ')}`);
    return 0;
  }
  const options = { clock, env: process.env, report };
  await ensureBinaries(options);
  await ensureNodePrograms(options);
  await fetchForInstallation();
  for (const abandoned of await removeAbandonedNodeRuns(clock))
    report(`removed what a killed run had left: ${abandoned}`);
  const before = takeSnapshot(runsOfOthers());
  const args = process.argv.slice(2);
  // Suites named on the command line are run one after the other.
  const isWhole = args.length === 0;
  const code = isWhole ? await runParts() : await runSuites({ name: 'node', args, isInside: true, isQuiet: false });
  const left = compareSnapshots(before, takeSnapshot(runsOfOthers()));
  const counts = Object.entries(before).map(([part, lines]) => `${lines.length} ${part}`);
  report(
    left.length === 0
      ? `nothing is left behind: before and after ${counts.join(', ')}`
      : `LEFT BEHIND:\n  ${left.join('\n  ')}`,
  );
  const hasPassed = code === 0 && left.length === 0;
  report(`suites ${hasPassed ? 'passed' : 'FAILED'} in ${formatElapsed(clock.now() - startMillis)}`);
  return hasPassed ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
