/** Runs random scenarios seed by seed and tells which invariants broke. */
import type { StartSimulatedOperator } from '../operator-port.ts';
import type { SimulationReport } from '../report.ts';
import { scenarioSchema } from '../scenario/schema.ts';
import { simulate } from '../simulate.ts';
import { type ChaosSize, randomScenario } from './random-scenario.ts';

/**
 * The same seed and size are the same scenario and the same run.
 * @throws ZodError where a drawn scenario is none: a fault of what draws.
 */
export async function runChaos(
  seed: number,
  size: ChaosSize,
  startOperator: StartSimulatedOperator,
): Promise<SimulationReport> {
  const scenario = scenarioSchema.parse(randomScenario(seed, size));
  return simulate({ scenario, folder: '.', startOperator });
}
