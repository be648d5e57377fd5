/** What the journal wrote into the operator's log, read back (see act/journal-log.ts). */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { journalKinds } from '../../act/journal.ts';
import { decodeText } from '../../lib/decode-text.ts';
import { describeFileError } from '../../lib/errors.ts';
import { tryParseJson } from '../../lib/try-parse-json.ts';
import type { CliIo } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import type { OperatorJournal } from '../operator-client.ts';

type LoggedEntry = OperatorJournal['entries'][number];

const record = z.object({
  time: z.iso.datetime(),
  msg: z.string(),
  workload: z.string(),
  kind: z.enum(journalKinds),
  reason: z.string(),
  engine: z.string().optional(),
  pod: z.string().optional(),
  numbers: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).optional(),
});

/**
 * Other records are passed over, and so is what `kubectl logs`, and the node in its files, puts before each line. The
 * node compresses the files it has rotated.
 * @throws CommandError for a file that cannot be read, and for one that is no log as JSON.
 */
export async function readLogs(paths: readonly string[], io: Pick<CliIo, 'readStdin'>): Promise<LoggedEntry[]> {
  const entries: LoggedEntry[] = [];
  for (const path of paths) {
    const text = path === '-' ? await io.readStdin() : readText(path);
    const values = linesOf(text).flatMap((line) => tryParseJson(line.slice(Math.max(0, line.indexOf('{')))) ?? []);
    if (values.length === 0 && text.trim() !== '') {
      throw new CommandError(
        `-f ${path}: no record as JSON in there; give the operator's log, with observability.logging.format: json`,
      );
    }
    for (const value of values) entries.push(...toEntry(value));
  }
  return entries;
}

/** What a container runtime puts before a line, or before a part of a long one (CRI: `TIME STREAM P|F TEXT`). */
const RUNTIME_PREFIX = /^\S+ (?<stream>stdout|stderr) (?<part>[PF])(?::\S*)? /;

/** Lines as they were written: the runtime cuts long ones, and the other stream may come between the parts. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  const begun = new Map<string, string>();
  for (const line of text.split('\n')) {
    const prefix = RUNTIME_PREFIX.exec(line);
    const { stream = '', part } = prefix?.groups ?? {};
    const whole = (begun.get(stream) ?? '') + line.slice(prefix?.[0].length ?? 0);
    if (part === 'P') begun.set(stream, whole);
    else {
      lines.push(whole);
      begun.delete(stream);
    }
  }
  return [...lines, ...begun.values()];
}

function toEntry(value: unknown): LoggedEntry[] {
  const found = record.safeParse(value);
  if (!found.success) return [];
  const { time, msg: message, workload, kind, reason, engine, pod, numbers } = found.data;
  const at = Date.parse(time);
  return [{ workload, kind, reason, message, engine, pod, numbers, firstAt: at, lastAt: at, count: 1 }];
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path);
    return decodeText(bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes);
  } catch (error) {
    throw new CommandError(
      `-f ${path}: ${describeFileError(error)}; give the operator's log, or - for standard input`,
      { cause: error },
    );
  }
}
