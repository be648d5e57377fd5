/** `npm run test:node`: builds what is missing, runs the suites on real nodes in a network namespace of their own, and proves that nothing is left behind. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runVitest } from '../../scripts/run-vitest.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureHelm } from '../chart/helm.ts';
import { ensureBinaries, formatElapsed } from '../controlplane/build.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
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

const config = 'vitest.node.config.ts';

async function runOnCluster(): Promise<number> {
  const run = createNodeRun();
  try {
    return await runVitest({
      name: 'node',
      config,
      args: process.argv.slice(2),
      env: { STOWAGE_NODE_RUN: run.directory },
      wrap: (command) => insideNamespace(run.directory, command),
    });
  } finally {
    await destroyNodeRun(run, clock);
  }
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
  const before = takeSnapshot();
  // Suites named on the command line are run alone.
  const isWhole = process.argv.length <= 2;
  const leftovers = isWhole ? await runVitest({ name: 'node-leftovers', config, args: ['--mode', 'leftovers'] }) : 0;
  const suites = await runOnCluster();
  const left = compareSnapshots(before, takeSnapshot());
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
