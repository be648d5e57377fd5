/** `stowage demo`, which is `npm start`: a cluster in this process, the real operator on it, and a story to watch. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../lib/duration.ts';
import type { Millis } from '../../lib/units.ts';
import type { AddCommand } from '../command-definition.ts';
import { parseSeed } from '../option-values.ts';

export interface DemoOptions {
  /** Ends by itself after this time; undefined runs until Ctrl-C. */
  readonly for?: Millis;
  readonly seed: number;
}

const EXAMPLES = `
Examples:
  stowage demo              # watch; Ctrl-C ends it and leaves nothing behind
  stowage demo --for 60s    # ends by itself; exit code 0 if all invariants held
  npm start -- --for 60s`;

export const addDemoCommand: AddCommand = (program, register, dependencies) => {
  const command = program
    .command('demo')
    .description('Run a cluster in this process with the operator on it, and show what it does and why.')
    .option('--for <duration>', 'end by itself after this time, e.g. 60s or 5m', parseRunTime)
    .option('--seed <number>', 'seed of every random choice of the cluster', parseSeed, 1)
    .addHelpText('after', EXAMPLES);
  register<DemoOptions>(command, async (context, options) =>
    (await import('./run-demo.ts')).runDemo(context, options, dependencies.startOperator),
  );
  return command;
};

function parseRunTime(text: string): Millis {
  const millis = parseDurationOr(text, Number.NaN);
  if (millis >= 1000 && millis <= 86_400_000) return millis;
  throw new InvalidArgumentError('Give a time from 1s to 24h, e.g. 60s, 5m or 1m30s.');
}

function parseDurationOr(text: string, fallback: number): Millis {
  try {
    return parseDuration(text);
  } catch {
    return fallback;
  }
}
