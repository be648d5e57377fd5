/** Asks the operator. Addresses are relative, so that the dashboard also works below a path of a proxy. */
import { memberOf } from '../../../lib/is-record.ts';
import { tryParseJson } from '../../../lib/try-parse-json.ts';

/** What the operator refused, in its own words. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** It cannot be reached, or breaks off. */
export class SilenceError extends Error {}

/**
 * @throws ApiError where the operator refuses, SilenceError where it cannot be heard, the signal's reason where that
 * fires first. It does not give up by itself: a connection that died without a word answers nothing for ever.
 */
export async function ask<Answer>(
  path: string,
  params: URLSearchParams | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const query = params === undefined || params.size === 0 ? '' : `?${params}`;
  const { status, isOk, text } = await exchange(`api/${path}${query}`, signal);
  const body = tryParseJson(text);
  if (isOk && body !== undefined) return body as Answer;
  throw new ApiError(status, messageOf(body) ?? `the operator answers ${status}`);
}

async function exchange(address: string, signal: AbortSignal) {
  try {
    const response = await fetch(address, { signal, cache: 'no-store' });
    return { status: response.status, isOk: response.ok, text: await response.text() };
  } catch (cause) {
    // Told apart here: faults of a page are TypeErrors, too.
    throw cause instanceof TypeError ? new SilenceError('the operator cannot be heard', { cause }) : cause;
  }
}

function messageOf(body: unknown): string | undefined {
  const message = memberOf(body, 'message');
  return typeof message === 'string' ? message : undefined;
}
