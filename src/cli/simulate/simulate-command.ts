/** `stowage simulate`: a scenario on a cluster in this process, days in seconds, with the real operator on it. */
import type { AddCommand } from '../command-definition.ts';
import { parseSeed } from '../option-values.ts';

export interface SimulateOptions {
  readonly seed?: number;
  /** Runs the two scenarios given and shows them side by side. */
  readonly compare?: boolean;
  /** File for the report as a page, besides what is printed. */
  readonly html?: string;
}

const EXAMPLES = `
Examples:
  stowage simulate              # the scenarios there are
  stowage simulate spot-storm   # one of them; exit code 1 if an assertion fails
  stowage simulate my-shop.yaml --seed 7 -o json
  stowage simulate --compare before.yaml after.yaml
  stowage simulate spot-storm --html report.html   # with plots, to open or send

The same scenario and seed give the same result. docs/simulate.md says how to
write one.`;

export const addSimulateCommand: AddCommand = (program, register, { startOperator }) => {
  const command = program
    .command('simulate')
    .description('Simulate a scenario in virtual time: what the mix costs, what breaks, what Stowage does about it.')
    .argument('[scenario...]', 'file, or name of a scenario that comes with Stowage')
    .option('--seed <number>', "seed of every random choice (default: the scenario's)", parseSeed)
    .option('--compare', 'run two scenarios and show them side by side')
    .option('--html <file>', 'also write the report as one HTML page with plots, which needs nothing else')
    .addHelpText('after', EXAMPLES);
  register<SimulateOptions>(command, async (context, options, scenarios) =>
    (await import('./run-simulate.ts')).runSimulate(context, options, scenarios, startOperator),
  );
  return command;
};
