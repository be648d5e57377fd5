/** Reads the answer to an instant query: one number for each set of labels. */
import { isRecord } from '../../../lib/is-record.ts';
import { cleaned } from './read-matrix.ts';

export interface VectorSample {
  readonly labels: Readonly<Record<string, string>>;
  /** Finite. */
  readonly value: number;
}

export type VectorAnswer =
  | { readonly ok: true; readonly samples: readonly VectorSample[] }
  /** The source's own sentence, where there was one. */
  | { readonly ok: false; readonly kind: 'error' | 'malformed'; readonly message: string };

/** Never throws: what is no vector is told as malformed; samples that are no numbers, or without labels, are left out. */
export function readVector(answer: unknown): VectorAnswer {
  if (!isRecord(answer)) return { ok: false, kind: 'malformed', message: 'the answer is not a JSON object' };
  if (answer['status'] === 'error') {
    const { error } = answer;
    const text = typeof error === 'string' ? cleaned(error) : '';
    return { ok: false, kind: 'error', message: text === '' ? 'no reason was given' : text };
  }
  // Some proxies hand on the data alone.
  const body = isRecord(answer['data']) ? answer['data'] : answer;
  const { result } = body;
  if (result !== null && !Array.isArray(result)) {
    return { ok: false, kind: 'malformed', message: 'the answer has no data.result' };
  }
  return { ok: true, samples: (result ?? []).flatMap(readSample) };
}

function readSample(item: unknown): VectorSample[] {
  if (!isRecord(item) || !isRecord(item['metric']) || !Array.isArray(item['value'])) return [];
  const given: unknown = item['value'][1];
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof value !== 'number' || !Number.isFinite(value)) return [];
  const labels: Record<string, string> = {};
  for (const [name, text] of Object.entries(item['metric'])) if (typeof text === 'string') labels[name] = text;
  return [{ labels, value }];
}
