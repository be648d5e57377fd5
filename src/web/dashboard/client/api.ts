/** Asks the operator. Addresses are relative, so that the dashboard also works below a path of a proxy. */

/** What the operator refused, in its own words. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws ApiError where the operator refuses, TypeError where it cannot be reached. */
export async function ask<Answer>(
  path: string,
  params: URLSearchParams | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const query = params === undefined || params.size === 0 ? '' : `?${params}`;
  const response = await fetch(`api/${path}${query}`, { signal, cache: 'no-store' });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as Answer;
  throw new ApiError(response.status, messageOf(body) ?? `the operator answers ${response.status}`);
}

function messageOf(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string'
    ? body.message
    : undefined;
}
