/** Finished runs in a file, one JSON document a line, so that a long experiment goes on where it was interrupted. */
import { appendFile, mkdir, readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { describeFileError, describeWriteError, hasErrorCode, StowageError } from '../lib/errors.ts';
import type { RunFigures } from './experiment.ts';

/** Under what a run was made, beside its load, arm and seed: runs that differ in any of it are not of one experiment. */
export interface RunSetting {
  readonly substrate: RunFigures['substrate'];
  readonly seconds: number;
  /** Of Stowage. */
  readonly version: string;
  /** Kernel and Node of a run in control groups; empty for a simulated one, which is the same everywhere. */
  readonly machine: string;
  /** Fingerprint of what the arm does under the load; see code-fingerprint.ts. */
  readonly code: string;
}

export type KeptRun = RunFigures & RunSetting;

/** One writer at a time; runs of other settings stay in it. */
export interface RunFile {
  /** In the order in which they were made. */
  readonly runs: readonly KeptRun[];
  /** Returns once the line is written. */
  keep(run: KeptRun): Promise<void>;
}

/** JSON has no word for infinite: the latency of a part that was lost. */
const LOST = 'lost';
const latency = z.union([z.number(), z.literal(LOST)]).transform((value) => (value === LOST ? Infinity : value));

const podSchema = z.object({
  pod: z.string(),
  sent: z.number(),
  p50Millis: latency,
  p95Millis: latency,
  p99Millis: latency,
  lostShare: z.number(),
  badShare: z.number(),
  usage: z.number(),
  throttledMillis: z.number(),
  throttledShare: z.number(),
  writes: z.number(),
});

const settingsSchema = z
  .object({ request: z.number(), limit: z.number().optional(), usage: z.number() })
  .transform(({ request, limit, usage }) => ({ request, limit, usage }));

const runSchema = z.object({
  load: z.string(),
  arm: z.string(),
  seed: z.number(),
  seconds: z.number(),
  substrate: z.enum(['kernel', 'simulated']),
  version: z.string(),
  machine: z.string(),
  code: z.string(),
  pods: z.array(podSchema),
  unscheduled: z.array(z.string()),
  countedMillis: z.number(),
  jain: z.number(),
  writesPerMinute: z.number(),
  lateWrites: z.number(),
  highestSum: z.number(),
  violations: z.number(),
  trace: z.array(z.object({ atMillis: z.number(), pods: z.record(z.string(), settingsSchema) })),
});

/**
 * The runs of a file, made with its folder where there is none. A last line that was cut off, as by a kill or a full disk,
 * is taken away.
 * @throws StowageError LAB_RUNS where another line is none of a run, the message says which; and where the folder cannot
 * be made, or the file not be read or written.
 */
export async function openRunFile(path: string): Promise<RunFile> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw unusable(`${folder}: ${describeWriteError(cause)}.`, cause);
  });
  const text = await contentOf(path);
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) await truncate(path, Buffer.byteLength(whole));
  const lines = whole.split('\n').slice(0, -1);
  const runs = lines.map((line, index) => parseRun(line, `${path}:${index + 1}`));
  return {
    runs,
    async keep(run) {
      const text = JSON.stringify(run, (_, value) => (value === Infinity ? LOST : value));
      await appendFile(path, `${text}\n`).catch((cause: unknown) => {
        throw unusable(`${path} cannot be written: ${describeWriteError(cause)}.`, cause);
      });
      runs.push(run);
    },
  };
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return '';
    throw unusable(`${path} cannot be read: ${describeFileError(error)}.`, error);
  }
}

const unusable = (message: string, cause: unknown): StowageError => new StowageError('LAB_RUNS', message, { cause });

function parseRun(line: string, place: string): KeptRun {
  const problem = (what: string): StowageError =>
    new StowageError('LAB_RUNS', `${place} is no finished run (${what}): take the line away, or give another folder`);
  try {
    const { success, data, error } = runSchema.safeParse(JSON.parse(line));
    if (success) return data;
    const [issue] = error.issues;
    throw problem(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not as expected'}`);
  } catch (error) {
    throw error instanceof SyntaxError ? problem('not JSON') : error;
  }
}
