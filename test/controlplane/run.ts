/** `npm run test:cluster`: builds the control plane where it is missing, runs the suites on it, and closes with one line that says how it went. */
import { runVitest } from '../../scripts/run-vitest.ts';
import { ensureBinaries } from './build.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { type RunningCommand, runCommand } from './run-command.ts';
import { readVersions } from './versions.ts';

const config = 'vitest.cluster.config.ts';

/** The longest first. */
const PARTS = ['replicas', 'rightsizing', 'base', 'engines', 'harness', 'outages', 'install'];
/** They wait for most of the time: for a lease to end, for figures to be scraped, for a pause to be over. */
const AT_ONCE = 4;
/** A control plane with what runs on it. */
const PART_BYTES = 1.5 * 1024 ** 3;

/** Some parts at a time. @returns the exit code of the first that failed. */
async function runParts({ report, runPart }: RunningCommand): Promise<number> {
  const waiting = [...PARTS];
  const codes: number[] = [];
  const lane = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const run = { name: `cluster-${part}`, config, args: ['--mode', part] };
      codes.push(await runPart(part, (output) => runVitest({ ...run, output })));
    }
  };
  const lanes = Math.max(1, Math.min(AT_ONCE, Math.floor(process.availableMemory() / PART_BYTES)));
  report(`the suites run in ${PARTS.length} parts, ${lanes} at a time; each tells how it went when it has ended`);
  await Promise.all(Array.from({ length: lanes }, lane));
  return codes.find((code) => code !== 0) ?? 0;
}

await runCommand('control plane', async (command) => {
  const existing = existingKubeconfigPath(process.env);
  if (existing === undefined) await ensureBinaries({ ...command, env: process.env });
  const versions = readVersions();
  const target = existing ?? `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}`;
  const args = process.argv.slice(2);
  // Suites named on the command line, and all on somebody's cluster, are run one after the other.
  const isWhole = args.length === 0 && existing === undefined;
  const code = isWhole ? await runParts(command) : await runVitest({ name: 'cluster', config, args });
  return command.conclude(code === 0, target);
});
