/** A small HTTP server on the loopback address that stands in for a usage source, and what a source is made of around it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import https from 'node:https';
import { onTestFinished } from 'vitest';
import { createSemaphore } from '../../../kube/transport/semaphore.ts';
import { createAuthority, issueServerCertificate } from '../../../lib/certificates.ts';
import { type Clock, createSystemClock } from '../../../lib/clock.ts';
import { http } from '../../../lib/node-http.ts';
import { createHttpExchange } from '../http-exchange.ts';
import { createPrometheusSource, type PrometheusTuning } from '../prometheus/prometheus-source.ts';
import { defaultLabelNames, type QueryPair } from '../prometheus/promql.ts';
import type { CredentialsReader, SourceCredentials } from '../source-credentials.ts';
import type { UsageSource } from '../usage-source.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly form: URLSearchParams;
}

export interface HttpSourceServer {
  readonly url: URL;
  /** PEM of the authority, where it speaks TLS. */
  readonly ca: string | undefined;
  readonly received: Received[];
}

export type Respond = (received: Received, response: ServerResponse) => void;

const NOW = Date.now();
export const REAL_PATIENCE_MILLIS = 60_000;

/** Answers with `respond` until the test ends. */
export async function serve(respond: Respond, options: { readonly tls?: boolean } = {}): Promise<HttpSourceServer> {
  const received: Received[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { method = '', url = '', headers } = request;
      const one: Received = { method, path: url, headers, body, form: new URLSearchParams(body) };
      received.push(one);
      respond(one, response);
    });
  };
  const validity = { notBeforeMillis: NOW - 3_600_000, notAfterMillis: NOW + 3_600_000 };
  const authority = options.tls ? await createAuthority({ commonName: 'test', ...validity }) : undefined;
  const pair =
    authority &&
    (await issueServerCertificate(authority, { commonName: 'source', ipAddresses: ['127.0.0.1'], ...validity }));
  const server: Server | https.Server = pair
    ? https.createServer({ cert: pair.certificatePem, key: pair.privateKeyPem }, onRequest)
    : http.createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: new URL(`http${pair ? 's' : ''}://127.0.0.1:${port}`), ca: authority?.certificatePem, received };
}

export const tuning: PrometheusTuning = {
  stepMillis: 60_000,
  scrapeMillis: 30_000,
  rateMillis: undefined,
  sampleBudget: 200_000,
  timeoutMillis: 5_000,
  names: defaultLabelNames,
};

export interface PrometheusAt {
  readonly credentials?: Partial<SourceCredentials>;
  readonly reader?: CredentialsReader;
  readonly tuning?: Partial<PrometheusTuning>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly templates?: QueryPair;
  readonly clock?: Clock;
  readonly maxBytes?: number;
}

/** The Prometheus source at `url`; its connections end with the test. */
export function prometheusAt(url: URL, options: PrometheusAt = {}): UsageSource {
  const { clock = createSystemClock(), maxBytes = 1 << 20, labels = {}, templates } = options;
  const own = { ...tuning, ...options.tuning };
  // In real time a busy machine must not pass for a silent server.
  const timeoutMillis = options.clock === undefined ? REAL_PATIENCE_MILLIS : own.timeoutMillis;
  const exchange = createHttpExchange({ clock, timeoutMillis, maxBytes });
  onTestFinished(() => exchange.close());
  const credentials: SourceCredentials = { headers: {}, ca: undefined, ...options.credentials };
  return createPrometheusSource({
    name: 'prometheus',
    url,
    labels,
    tuning: own,
    exchange,
    permits: createSemaphore(4),
    credentials: options.reader ?? { read: () => Promise.resolve({ ok: true, credentials }), refused: () => {} },
    ...(templates !== undefined && { templates }),
  });
}

/** The answer of a range query, as Prometheus gives it. */
export function matrix(
  series: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [number, string])[];
  }[],
  more: object = {},
): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result: series }, ...more });
}

export const isCpu = ({ form }: Received): boolean => (form.get('query') ?? '').includes('container_cpu_usage');
