/** Reads the answer to an instant query: one number for each set of labels. */
import { isRecord } from '../../../lib/is-record.ts';
import { numberOf, resultOf, type UnreadableAnswer } from './read-answer.ts';

/** Labels that are no texts are left out. */
export interface VectorSample {
  readonly labels: Readonly<Record<string, string>>;
  /** Finite. */
  readonly value: number;
}

export type VectorAnswer = UnreadableAnswer | { readonly ok: true; readonly samples: readonly VectorSample[] };

/**
 * Never throws: what is no vector is told as malformed; samples that are no numbers, or without labels, are left out.
 */
export function readVector(answer: unknown): VectorAnswer {
  const read = resultOf(answer, ({ error }) => (typeof error === 'string' ? error : ''));
  return read.ok ? { ok: true, samples: read.result.flatMap(readSample) } : read;
}

function readSample(item: unknown): VectorSample[] {
  if (!isRecord(item) || !isRecord(item['metric']) || !Array.isArray(item['value'])) return [];
  const value = numberOf(item['value'][1]);
  if (!Number.isFinite(value)) return [];
  const labels: Record<string, string> = {};
  for (const [name, text] of Object.entries(item['metric'])) if (typeof text === 'string') labels[name] = text;
  return [{ labels, value }];
}
