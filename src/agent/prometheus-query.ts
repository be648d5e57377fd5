/**
 * One instant query of the Prometheus HTTP API. By hand over node:http, since `fetch` alone would cost 13 MB of memory.
 */

import https from 'node:https';
import { memberOf } from '../lib/is-record.ts';
import { http } from '../lib/node-http.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';

/** One series of the answer, by the pod that its labels name. */
export interface MetricSample {
  readonly namespace: string;
  readonly pod: string;
  readonly value: number;
  /** When the value was taken, seconds since 1970 by the server's clock. */
  readonly atSeconds: number;
}

/** Answers larger than this are not read: a query that names no pods could return the whole cluster. */
const LONGEST_ANSWER_BYTES = 4 << 20;

/**
 * Posted as a form: a query that names a node's pods is too long for an address.
 * @throws Error when the server does not answer in time, refuses, or answers what is not a vector.
 */
export async function queryPrometheus(base: URL, query: string, signal: AbortSignal): Promise<MetricSample[]> {
  const url = new URL(`${base.pathname.replace(/\/$/, '')}/api/v1/query`, base);
  const { status, body } = await post(url, new URLSearchParams({ query }).toString(), signal);
  const answer = tryParseJson(body);
  if (answer === undefined) throw new Error(`${url.host} answered ${status} with what is not JSON`);
  const reason = memberOf(answer, 'error');
  if (status !== 200 || memberOf(answer, 'status') !== 'success')
    throw new Error(
      `${url.host} answered ${status}: ${typeof reason === 'string' ? reason.slice(0, 200) : 'no reason given'}`,
    );
  const result = memberOf(memberOf(answer, 'data'), 'result');
  if (memberOf(memberOf(answer, 'data'), 'resultType') !== 'vector' || !Array.isArray(result))
    throw new Error(`the query does not answer with a vector: ${query.slice(0, 100)}`);
  return result.flatMap((series) => sampleOf(series) ?? []);
}

/** Series that do not say which pod they are about, and values that are no number, are left out. */
function sampleOf(series: unknown): MetricSample | undefined {
  const [namespace, pod] = [
    memberOf(memberOf(series, 'metric'), 'namespace'),
    memberOf(memberOf(series, 'metric'), 'pod'),
  ];
  const pair = memberOf(series, 'value');
  if (typeof namespace !== 'string' || typeof pod !== 'string' || !Array.isArray(pair)) return undefined;
  const [atSeconds, text] = pair;
  const value = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
  return typeof atSeconds === 'number' && Number.isFinite(value) ? { namespace, pod, value, atSeconds } : undefined;
}

function post(url: URL, form: string, signal: AbortSignal): Promise<{ status: number; body: string }> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(form) };
    const outgoing = request(url, { method: 'POST', headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > LONGEST_ANSWER_BYTES) outgoing.destroy(new Error(`${url.host} answered more than 4 MiB`));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(form);
  });
}
