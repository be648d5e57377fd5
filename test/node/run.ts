/** `npm run test:node`: builds what is missing, runs the suites on real nodes in a network namespace of their own, and proves that nothing is left behind. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runVitest } from '../../scripts/run-vitest.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { ensureHelm } from '../chart/helm.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { type RunningCommand, runCommand } from '../controlplane/run-command.ts';
import { ensurePrometheus } from '../prometheus/find-prometheus.ts';
import { insideNamespace } from './host/network-namespace.ts';
import { createNodeRun, destroyNodeRun, removeAbandonedNodeRuns, runsOfOthers } from './host/node-run.ts';
import { obstacles } from './host/requirements.ts';
import { compareSnapshots, takeSnapshot } from './host/snapshot.ts';
import { countSuites } from './host/suites.ts';
import { type PartName, parts } from './parts.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';

const root = resolve(import.meta.dirname, '..', '..');

const config = 'vitest.node.config.ts';
/** Collecting less often costs these short lives nothing but memory, and saves a good part of their CPU. */
const env = { GOGC: '400' };

interface Suites {
  readonly name: string;
  readonly args: readonly string[];
  /** Inside the run's namespace, where their cluster is booted. */
  readonly isInside: boolean;
  /** A file for what they say; left out, the terminal. */
  readonly output?: string;
}

/** Suites in a run of their own: whatever becomes of them, it is found by the run's folder. */
async function runSuites({ isInside, ...suites }: Suites, clock: Clock): Promise<number> {
  const run = createNodeRun();
  try {
    return await runVitest({
      ...suites,
      config,
      env: { ...env, STOWAGE_NODE_RUN: run.directory },
      ...(isInside && { wrap: (command) => insideNamespace(run.directory, command) }),
    });
  } finally {
    await destroyNodeRun(run, clock);
  }
}

/** Side by side: most of what they do is wait. */
async function runParts({ clock, report, runPart }: RunningCommand): Promise<number> {
  const run = (part: PartName): Promise<number> => {
    const suites = { name: `node-${part}`, args: ['--mode', part], isInside: parts[part].nodes.length > 0 };
    return runPart(part, (output) => runSuites({ ...suites, output }, clock));
  };
  report('the suites run in parts; each tells how it went when it has ended');
  const codes = await Promise.all([
    run('operators'),
    // The shorter one has time for another.
    run('kubelet').then(async (code) => Math.max(code, await run('leftovers'))),
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
async function fetchForInstallation({ clock, report }: RunningCommand): Promise<void> {
  const helm = await ensureHelm({ clock, env: process.env });
  if (!helm.ok) report(`the chart is not installed on the nodes: ${helm.reason}`);
  await ensurePrometheus().catch(({ message }: Error) => report(`nothing is scraped: ${message}`));
}

await runCommand('real nodes', async (command) => {
  const { clock, report } = command;
  const found = obstacles();
  if (found.length > 0) {
    const { files, tests } = countSuites(join(root, 'test', 'node'));
    reportSkipped(tests);
    report(`SKIPPED ${tests} tests in ${files} files, as a real node cannot run here:\n  ${found.join('\n  ')}`);
    return 0;
  }
  const options = { ...command, env: process.env };
  await ensureBinaries(options);
  await ensureNodePrograms(options);
  await fetchForInstallation(command);
  for (const abandoned of await removeAbandonedNodeRuns(clock))
    report(`removed what a killed run had left: ${abandoned}`);
  const before = takeSnapshot(runsOfOthers());
  const args = process.argv.slice(2);
  // Suites named on the command line are run one after the other.
  const code =
    args.length === 0 ? await runParts(command) : await runSuites({ name: 'node', args, isInside: true }, clock);
  const left = compareSnapshots(before, takeSnapshot(runsOfOthers()));
  const counts = Object.entries(before).map(([part, lines]) => `${lines.length} ${part}`);
  report(
    left.length === 0
      ? `nothing is left behind: before and after ${counts.join(', ')}`
      : `LEFT BEHIND:\n  ${left.join('\n  ')}`,
  );
  return command.conclude(code === 0 && left.length === 0);
});
