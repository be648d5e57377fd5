/** What answers of the query API have in common, whatever was asked. */
import { isRecord } from '../../../lib/is-record.ts';

/** The source's own sentence, where there was one. */
export interface UnreadableAnswer {
  readonly ok: false;
  readonly kind: 'error' | 'malformed';
  readonly message: string;
}

type AnswerRecord = Readonly<Record<string, unknown>>;

const MAX_QUOTE = 300;

/**
 * The list in `data.result`; null counts as empty.
 * @param errorText what an answer says that is an error; empty: nothing.
 */
export function resultOf(
  answer: unknown,
  errorText: (answer: AnswerRecord) => string,
): UnreadableAnswer | { readonly ok: true; readonly answer: AnswerRecord; readonly result: readonly unknown[] } {
  if (!isRecord(answer)) return { ok: false, kind: 'malformed', message: 'the answer is not a JSON object' };
  if (answer['status'] === 'error')
    return { ok: false, kind: 'error', message: cleaned(errorText(answer)) || 'no reason was given' };
  // Some proxies hand on the data alone.
  const body = isRecord(answer['data']) ? answer['data'] : answer;
  const result: unknown = body['result'];
  if (result !== null && !Array.isArray(result)) {
    return { ok: false, kind: 'malformed', message: 'the answer has no data.result' };
  }
  return { ok: true, answer, result: result ?? [] };
}

/** Values come as text, `"NaN"` and `"+Inf"` included. @returns NaN for what is no number. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

/** One printable line: the text comes from outside and goes to logs and status. */
export function cleaned(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}...` : line;
}
