/**
 * One question to a Prometheus API: a form in the body, so that no address is too long; the answer as JSON, or what
 * went wrong.
 */
import { memberOf } from '../../../lib/is-record.ts';
import { tryParseJson } from '../../../lib/try-parse-json.ts';
import { type HttpExchange, shown } from '../http-exchange.ts';
import type { CredentialsReader } from '../source-credentials.ts';
import type { UsageProblem } from '../usage-source.ts';
import { cleaned } from './read-answer.ts';

/** One request; nothing is retried. */
export interface FormQuestion {
  readonly url: URL;
  /** Below the base address. */
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly credentials: CredentialsReader;
  readonly exchange: HttpExchange;
}

/** Any JSON: its shape is not looked at here. */
export type JsonAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: UsageProblem };

/**
 * An answer with an error status is one of the API's own where it is JSON with `status: error`; its sentence is handed
 * on.
 */
export async function postForm(question: FormQuestion, signal: AbortSignal): Promise<JsonAnswer> {
  const { url, path, form, credentials, exchange } = question;
  const known = await credentials.read(signal);
  if (!known.ok) return known;
  const { headers, ca } = known.credentials;
  const target = below(url, path);
  const answer = await exchange.send(
    {
      url: target,
      method: 'POST',
      headers: { accept: 'application/json', ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    },
    ca,
    signal,
  );
  if (!answer.ok) return answer;
  if (answer.status === 401 || answer.status === 403) credentials.refused();
  const value = tryParseJson(answer.body.toString('utf8'));
  if (answer.status >= 200 && answer.status < 300) {
    if (value !== undefined) return { ok: true, value };
    const message = `${shown(target)} answered with something other than JSON: check that the address is that of a Prometheus API`;
    return { ok: false, problem: { reason: 'Malformed', message } };
  }
  return { ok: false, problem: statusProblem(target, answer.status, value) };
}

/**
 * `https://host/prometheus` and `api/v1/query` make `https://host/prometheus/api/v1/query`; parameters of the base
 * stay.
 */
export function below(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

function statusProblem(url: URL, status: number, value: unknown): UsageProblem {
  // Only the API's own error text is shown: pages of other servers are none of a policy's business.
  const error = memberOf(value, 'error');
  const text = typeof error === 'string' ? `: ${cleaned(error)}` : '';
  const where = `${shown(url)} answered HTTP ${status}${text}`;
  if (status === 401 || status === 403)
    return {
      reason: 'Unauthorized',
      message: `${where}; check the token or headers in the Secrets that the policy names`,
    };
  if (status === 404)
    return {
      reason: 'Rejected',
      message: `${where}; check the path of the address: it must be the one /api/v1 is below`,
    };
  if (status === 413 || status === 422)
    return {
      reason: 'Rejected',
      message: `${where}; the query asks for more than the source allows: shorten rollingWindow or lengthen the step`,
    };
  if (status === 429 || status >= 500)
    return { reason: 'Unreachable', message: `${where}; it is overloaded or not ready, and will be asked again` };
  return { reason: 'Rejected', message: where };
}
