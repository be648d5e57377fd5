/** What the code of a load and an arm comes to, as a short text that changes when their behaviour does. */
import { createHash } from 'node:crypto';
import { type ExperimentOptions, runExperiment } from './experiment.ts';
import { createSimulatedSubstrate } from './simulated-substrate.ts';

/** Nearly every load changes within it, and every arm answers. */
const LENGTH_MILLIS = 46_000;

/**
 * Runs the pair on the simulated machine, where nothing but the code decides, and hashes what came of it. A version number would
 * not do: rules change between releases, and their runs must not end up in one median.
 */
export async function codeFingerprint(
  pair: Pick<ExperimentOptions, 'load' | 'arm' | 'cpus' | 'allocatable' | 'warmUpMillis'>,
): Promise<string> {
  const substrate = createSimulatedSubstrate({ cpus: pair.cpus, lengthMillis: LENGTH_MILLIS });
  const figures = await runExperiment({ ...pair, substrate, seed: 0, lengthMillis: LENGTH_MILLIS });
  return createHash('sha256').update(JSON.stringify(figures)).digest('hex').slice(0, 12);
}
