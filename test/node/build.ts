/** `npm run test:build`: builds the programs of the control plane and of the nodes where they are missing, and runs nothing. */
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { obstacles } from './host/requirements.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';

const report = (line: string): void => void process.stderr.write(`programs: ${line}\n`);
const stopper = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => stopper.abort(new Error(`stopped by ${signal}`)));

try {
  const options = { clock: createSystemClock(), env: process.env, report, signal: stopper.signal };
  await ensureBinaries(options);
  if (obstacles().length === 0) await ensureNodePrograms(options);
  else report('no node programs: a real node cannot run here');
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
