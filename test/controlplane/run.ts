/** `npm run test:cluster`: builds the control plane where it is missing, runs the suites on it, and closes with one line that says how it went. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const config = 'vitest.cluster.config.ts';

/** The longest first. */
const PARTS = ['engines', 'replicas', 'base', 'rightsizing', 'harness'];
/** They wait for most of the time: for a lease to end, for figures to be scraped, for a pause to be over. */
const AT_ONCE = 4;
/** A control plane with what runs on it. */
const PART_BYTES = 1.5 * 1024 ** 3;

/** Some parts at a time. What a part says is shown when it has ended. */
async function runParts(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-suites-'));
  const run = async (mode: string): Promise<number> => {
    const from = clock.now();
    const output = join(folder, `${mode}.out`);
    const code = await runVitest({ name: `cluster-${mode}`, config, args: ['--mode', mode], output });
    process.stdout.write(readFileSync(output));
    report(`part ${mode} ${code === 0 ? 'passed' : 'FAILED'} in ${formatElapsed(clock.now() - from)}`);
    return code;
  };
  const waiting = [...PARTS];
  const codes: number[] = [];
  const lane = async (): Promise<void> => {
    for (let mode = waiting.shift(); mode !== undefined && !stopper.signal.aborted; mode = waiting.shift())
      codes.push(await run(mode));
  };
  try {
    const lanes = Math.max(1, Math.min(AT_ONCE, Math.floor(process.availableMemory() / PART_BYTES)));
    report(`the suites run in ${PARTS.length} parts, ${lanes} at a time; each tells how it went when it has ended`);
    await Promise.all(Array.from({ length: lanes }, lane));
    return codes.find((code) => code !== 0) ?? (stopper.signal.aborted ? 1 : 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const existing = existingKubeconfigPath(process.env);
  if (existing === undefined) await ensureBinaries({ clock, env: process.env, report, signal: stopper.signal });
  const versions = readVersions();
  const target = existing ?? `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}`;
  const args = process.argv.slice(2);
  // Suites named on the command line, and all on somebody's cluster, are run one after the other.
  const code =
    args.length > 0 || existing !== undefined ? await runVitest({ name: 'cluster', config, args }) : await runParts();
  report(`suites ${code === 0 ? 'passed' : 'FAILED'} on ${target} in ${formatElapsed(clock.now() - startMillis)}`);
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
