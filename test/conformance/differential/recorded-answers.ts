/** What a real API server has answered to sequences, kept for runs without one. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SeenAnswer } from './seen-answer.ts';

export interface RecordedAnswers {
  /** Of the server that answered. */
  readonly kubernetes: string;
  /** By seed; see `ComparedSequence.agreed`. */
  readonly sequences: Readonly<Record<string, readonly (string | null)[]>>;
}

export const RECORD = join(import.meta.dirname, 'answers.json');
/** Of the namespaces' names, which are in the answers. */
export const PREFIX = 'd';

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** `201 x3Fz9Q`: equal for equal answers. */
export function fingerprint(answer: SeenAnswer): string {
  const hash = createHash('sha256')
    .update(JSON.stringify(sorted(answer)))
    .digest('base64url');
  return `${answer.status} ${hash.slice(0, 6)}`;
}
