/** Reads answers of the API server: bodies with a limit, error answers as KubeError, Retry-After. */

import type { Status } from '../api/core.ts';
import { KubeError } from '../api/kube-error.ts';
import { isRecord } from '../lib/is-record.ts';
import { MalformedAnswerError, parseJson } from './json-stream.ts';
import { ConnectionError, type TransportResponse } from './transport/transport.ts';

/**
 * Longest answer kept as a whole; lists and watches are streamed and not bound by it. etcd holds objects of at most 1.5
 * MiB.
 */
const MAX_BODY_BYTES = 64 << 20;
/** A Status with all its causes has some kilobytes. What a proxy sends with an error may have no end. */
const MAX_ERROR_BYTES = 1 << 20;
/** Of an error answer that is not a Status, this much of the text is quoted. */
const MAX_QUOTE = 300;

/**
 * The body's chunks, with faults of the connection told as such.
 * @throws ConnectionError; the signal's reason when it aborted.
 */
export async function* readChunks(
  { body, wasCut }: Pick<TransportResponse, 'body' | 'wasCut'>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of body) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof ConnectionError
      ? cause
      : new ConnectionError('The connection broke during an answer', { cause });
  } finally {
    // Leaving early must end the stream, or it keeps its place on the connection.
    body.destroy();
  }
  signal.throwIfAborted();
  if (wasCut()) throw new ConnectionError('The connection was cut during an answer.');
}

/**
 * The whole body, at most 64 MiB.
 * @throws MalformedAnswerError for a longer one; ConnectionError where it breaks off; the signal's reason when it
 * aborted.
 */
export async function readBody(
  response: Pick<TransportResponse, 'body' | 'wasCut'>,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(response, signal)) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new MalformedAnswerError(`The API server's answer is longer than ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/**
 * The answer as the error it is: by its Status where the API server sent one, else by the HTTP code and a bounded
 * quote. Never a success, whatever the body says.
 */
export async function readError(
  response: TransportResponse,
  signal: AbortSignal,
  nowMillis: number,
): Promise<KubeError> {
  const text = (await readBeginning(response, signal)).toString('utf8');
  const retryAfterMillis = parseRetryAfter(headerOf(response, 'retry-after'), nowMillis);
  const status = parseStatus(text);
  const quote = text.trim().slice(0, MAX_QUOTE);
  const fallback = `The API server answered HTTP ${response.status}${quote === '' ? '' : `: ${quote}`}.`;
  return new KubeError(response.status, status, fallback, retryAfterMillis);
}

/** At least the first {@link MAX_ERROR_BYTES}; the rest is not waited for. */
async function readBeginning(response: TransportResponse, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(response, signal)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** Error answers, ERROR events of watches, and the answers to some deletions. */
export function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status';
}

/** Undefined for whatever is no Status. */
function parseStatus(text: string): Status | undefined {
  // Proxies in front answer in HTML or text.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseJson(Buffer.from(text));
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headerOf(response: TransportResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * API servers ask for seconds. A page of a proxy under maintenance may ask for a day, and a date of a clock that goes
 * wrong for years: nobody is to be deaf for so long.
 */
const MAX_RETRY_AFTER_MILLIS = 60_000;

/**
 * Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now, a minute at most; undefined when absent or
 * neither.
 */
export function parseRetryAfter(text: string | undefined, nowMillis: number): number | undefined {
  if (text === undefined) return undefined;
  const asked = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - nowMillis;
  return Number.isNaN(asked) ? undefined : Math.min(MAX_RETRY_AFTER_MILLIS, Math.max(0, asked));
}
