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

/**
 * @throws ApiError where the operator refuses, TypeError where it cannot be reached or breaks off, the signal's reason
 * where that fires first. It does not give up by itself: a connection that died without a word answers nothing for
 * ever.
 */
export async function ask<Answer>(
  path: string,
  params: URLSearchParams | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const query = params === undefined || params.size === 0 ? '' : `?${params}`;
  const response = await fetch(`api/${path}${query}`, { signal, cache: 'no-store' });
  const body = tryParseJson(await response.text());
  if (response.ok && body !== undefined) return body as Answer;
  throw new ApiError(response.status, messageOf(body) ?? `the operator answers ${response.status}`);
}

function messageOf(body: unknown): string | undefined {
  const message = memberOf(body, 'message');
  return typeof message === 'string' ? message : undefined;
}
