/** Many sequences, some at a time, on two servers; what they have in common is made first. */
import type { Endpoint } from '../endpoint.ts';
import { type ComparedSequence, compareSequence } from './compare.ts';
import { define } from './define.ts';
import { drawSequence } from './draw-sequence.ts';

export interface DifferentialRun {
  readonly real: Endpoint;
  readonly embedded: Endpoint;
  readonly seeds: readonly number[];
  /** See `SequenceInput`. */
  readonly prefix: string;
  readonly only?: readonly string[];
}

export interface DifferentialResult {
  /** Of steps that both have answered. */
  readonly requests: number;
  /** By seed. */
  readonly sequences: readonly ComparedSequence[];
}

const AT_ONCE = 8;

export async function runDifferential({
  real,
  embedded,
  seeds,
  prefix,
  only,
}: DifferentialRun): Promise<DifferentialResult> {
  await Promise.all([define(real), define(embedded)]);
  const waiting = [...seeds];
  const sequences: ComparedSequence[] = [];
  const lane = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const sequence = drawSequence({ seed, prefix, ...(only === undefined ? {} : { only }) });
      sequences.push(await compareSequence(sequence, real, embedded));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const requests = sequences.reduce((sum, { agreed }) => sum + agreed.length, 0);
  return { requests, sequences: sequences.toSorted((a, b) => a.seed - b.seed) };
}
