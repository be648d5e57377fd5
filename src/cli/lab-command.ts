/** `stowage lab`: the CPU-sharing experiment, on this machine's control groups or on a simulated machine. */
import { InvalidArgumentError, Option } from 'commander';
import type { AddCommand } from './command-definition.ts';
import { collect } from './option-values.ts';

export interface LabOptions {
  readonly load?: readonly string[];
  readonly arm?: readonly string[];
  readonly seeds: number;
  readonly seconds: number;
  readonly substrate: 'auto' | 'kernel' | 'simulated';
  readonly out?: string;
  readonly list?: true;
}

const EXAMPLES = `
Examples:
  stowage lab --list                            # loads and arms
  stowage lab --substrate simulated             # everything, the same each time
  stowage lab --load wrong-request --seeds 3    # one load, real control groups
  stowage lab --load square-30 --arm stowage --arm hand-tuned --out results/

With --out each finished run is kept. Given again, after an interruption or with
more seeds, loads or arms, the command runs what is missing; runs of another
length, place, version or behaviour of the code are never counted with them.
In real control groups each run takes as long as it says (--seconds); they need
root and nothing else that is busy beside them. What a killed experiment leaves
is removed by the next one. Groups that it did not make are never touched.`;

export const addLabCommand: AddCommand = (program, register, { version }) => {
  const command = program
    .command('lab')
    .description('Compare ways of sharing the CPU of a node: latency, throttling, writes.')
    .option('--load <name>', 'a load; again for more (default: all)', collect)
    .option('--arm <name>', 'a way of sharing; again for more (default: all)', collect)
    .option('--seeds <number>', 'runs of each, with different requests', parseSeeds, 5)
    .option('--seconds <number>', 'length of a run; the first 15 s are not counted', parseSeconds, 105)
    .addOption(
      new Option('--substrate <kind>', 'where it runs; auto: in control groups where they can be written')
        .choices(['auto', 'kernel', 'simulated'])
        .default('auto'),
    )
    .option('--out <directory>', 'keep finished runs there (runs.jsonl), and write lab.md, lab.json and plots')
    .option('--list', 'name the loads and the arms, and run nothing')
    .addHelpText('after', EXAMPLES);
  register<LabOptions>(command, async (context, options) =>
    (await import('./lab/run-lab.ts')).runLab(context, options, version),
  );
  return command;
};

function parseSeeds(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number from 1 to 99.');
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 20 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('Give whole seconds, from 20 to 3600.');
}
