/** `npm run test:cluster`: builds the control plane where it is missing, runs the suites on it, and closes with one line that says how it went. */
import { runVitest } from '../../scripts/run-vitest.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries, formatElapsed } from './build.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { readVersions } from './versions.ts';

const clock = createSystemClock();
const startMillis = clock.now();
const report = (line: string): void => void process.stderr.write(`control plane: ${line}\n`);

// A build under way, too, has to end with this process: its compiler would go on for minutes.
const stopper = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => stopper.abort(new Error(`stopped by ${signal}`)));

async function main(): Promise<number> {
  const existing = existingKubeconfigPath(process.env);
  if (existing === undefined) await ensureBinaries({ clock, env: process.env, report, signal: stopper.signal });
  const versions = readVersions();
  const target = existing ?? `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}`;
  const args = process.argv.slice(2);
  const run = (name: string, more: readonly string[]): Promise<number> =>
    runVitest({ name, config: 'vitest.cluster.config.ts', args: more });
  // Suites named on the command line are run alone, together.
  const code =
    args.length > 0
      ? await run('cluster', args)
      : (await run('cluster', ['--mode', 'base'])) | (await run('cluster-engines', ['--mode', 'engines']));
  report(`suites ${code === 0 ? 'passed' : 'FAILED'} on ${target} in ${formatElapsed(clock.now() - startMillis)}`);
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
