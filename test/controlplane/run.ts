/**
 * `npm run test:cluster`: builds the control plane where it is missing, runs the suites on it, and closes with one line that says how it went.
 * `--only PART,...`, `--except PART,...` and `--at-once N` choose among the parts; everything else goes to the runner.
 */
import { runVitest } from '../../scripts/run-vitest.ts';
import { ensureBinaries } from './build.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { type Choice, chosenParts } from './parts.ts';
import { type RunningCommand, runCommand } from './run-command.ts';
import { readVersions } from './versions.ts';

const config = 'vitest.cluster.config.ts';

/** A control plane with what runs on it. */
const PART_BYTES = 1.5 * 1024 ** 3;

/** Some parts at a time. @returns the exit code of the first that failed. */
async function runParts({ parts, atOnce }: Choice, { report, runPart }: RunningCommand): Promise<number> {
  const waiting = [...parts];
  const codes: number[] = [];
  const lane = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const run = { name: `cluster-${part}`, config, args: ['--mode', part] };
      codes.push(await runPart(part, (output) => runVitest({ ...run, output })));
    }
  };
  const lanes = Math.max(1, Math.min(atOnce, parts.length, Math.floor(process.availableMemory() / PART_BYTES)));
  report(`the suites run in ${parts.length} parts, ${lanes} at a time; each tells how it went when it has ended`);
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
  const choice = existing === undefined ? chosenParts(args) : undefined;
  const code = await (choice === undefined ? runVitest({ name: 'cluster', config, args }) : runParts(choice, command));
  return command.conclude(code === 0, target);
});
