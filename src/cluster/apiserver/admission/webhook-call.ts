/** Calls a webhook over HTTPS, or a handler registered in-process under its address. */
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../../lib/clock.ts';
import { isObject, type JsonObject, numberAt, objectAt, stringAt, toJson } from '../json.ts';

/** Answers an AdmissionReview in-process; the simulator's stand-in for a webhook server. */
export type LocalWebhook = (review: JsonObject, signal: AbortSignal) => object | Promise<object>;

/** `localWebhooks` go first: a webhook served in-process needs no socket and no certificate. */
export interface WebhookCallOptions {
  readonly clock: Clock;
  /** By URL, or `namespace/name` of the Service. */
  readonly localWebhooks: ReadonlyMap<string, LocalWebhook>;
  /** Where a Service can be reached, as `https://host:port`; undefined when nowhere. */
  readonly resolveService: ((namespace: string, name: string, port: number) => string | undefined) | undefined;
}

/** Largest answer read. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface WebhookCaller {
  /** The answer's body; rejects with an Error that says what went wrong, also after the hook's timeout. */
  call(hook: JsonObject, review: JsonObject): Promise<JsonObject>;
}

/** The timeout is the hook's own and runs on `clock`, so in virtual time a webhook can be too late. */
export function createWebhookCaller({ clock, localWebhooks, resolveService }: WebhookCallOptions): WebhookCaller {
  return {
    async call(hook, review) {
      const client = objectAt(hook, 'clientConfig');
      const seconds = numberAt(hook, 'timeoutSeconds') ?? 10;
      const service = objectAt(client, 'service');
      const namespace = stringAt(service, 'namespace') ?? '';
      const serviceName = stringAt(service, 'name') ?? '';
      const key = stringAt(client, 'url') ?? `${namespace}/${serviceName}`;
      const timeout = new AbortController();
      const timer = clock.setTimer(seconds * 1_000, () => timeout.abort(new Error('context deadline exceeded')));
      try {
        const local = localWebhooks.get(key);
        if (local !== undefined)
          return asAnswer(await raceAbort(Promise.resolve(local(review, timeout.signal)), timeout.signal));
        const base =
          service === undefined
            ? stringAt(client, 'url')
            : resolveService?.(namespace, serviceName, numberAt(service, 'port') ?? 443);
        if (base === undefined) throw new Error(`service ${JSON.stringify(serviceName)} not found`);
        const url = new URL(service === undefined ? base : `${base}${stringAt(service, 'path') ?? '/'}`);
        url.searchParams.set('timeout', `${seconds}s`);
        const ca = stringAt(client, 'caBundle');
        const name = service === undefined ? undefined : `${serviceName}.${namespace}.svc`;
        return asAnswer(
          JSON.parse(
            await post(
              url,
              JSON.stringify(review),
              ca === undefined ? undefined : Buffer.from(ca, 'base64').toString('utf8'),
              name,
              timeout.signal,
            ),
          ),
        );
      } finally {
        timer.cancel();
      }
    },
  };
}

function asAnswer(value: unknown): JsonObject {
  const answer = toJson(value);
  if (!isObject(answer)) throw new Error('the answer is not a JSON object');
  return answer;
}

function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A transport error in the words of the real server's client, which people search for. */
function transportFailure(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const address = `${url.hostname}:${url.port || 443}`;
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`;
  if (code === 'ECONNRESET') return 'EOF';
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${url.hostname}: no such host`;
  if (code.includes('CERT') || code.includes('SIGNATURE') || code.includes('ISSUER'))
    return `tls: failed to verify certificate: x509: ${error.message}`;
  return error.message;
}

function post(
  url: URL,
  body: string,
  ca: string | undefined,
  serverName: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      const why =
        signal.aborted && signal.reason instanceof Error ? signal.reason.message : transportFailure(error, url);
      reject(new Error(`Post ${JSON.stringify(url.href)}: ${why}`));
    };
    const request = httpsRequest(
      url,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal,
        ...(ca === undefined ? {} : { ca }),
        ...(serverName === undefined ? {} : { servername: serverName }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () => {
          if (response.statusCode !== 200) fail(new Error(`the server answered with status ${response.statusCode}`));
          else resolve(Buffer.concat(chunks).toString('utf8'));
        });
      },
    );
    request.on('error', fail);
    request.end(body);
  });
}
