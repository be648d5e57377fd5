/** The plainest possible HTTP client of an API server: no retries, no typing, no cleverness that could hide what the server said. */
import { Agent, request } from 'node:https';
import type { CertificatePair } from '../../src/lib/certificates.ts';

/** JSON as it came; tests look into it with matchers. */
export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
  /** The body as sent; for answers that are not JSON. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface CallInit {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
}

export interface RawWatchEvent {
  readonly type: string;
  readonly object: Json;
}

/** A watch that was answered with something other than a stream. */
export class RefusedWatch extends Error {
  override readonly name = 'RefusedWatch';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`the watch was answered ${answer.status}: ${answer.text}`);
    this.answer = answer;
  }
}

export interface Endpoint {
  call(method: string, path: string, init?: CallInit): Promise<Answer>;
  /** Opens a watch; the iteration ends when the server ends the stream. Breaking out of the loop closes it. */
  watch(path: string): AsyncIterable<RawWatchEvent>;
  close(): void;
}

export interface EndpointInput {
  readonly url: string;
  readonly caPem: string;
  /** Absent: anonymous. */
  readonly credentials?: CertificatePair;
}

function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function createEndpoint({ url, caPem, credentials }: EndpointInput): Endpoint {
  const identity =
    credentials === undefined ? {} : { cert: credentials.certificatePem, key: credentials.privateKeyPem };
  const agent = new Agent({ keepAlive: true, ca: caPem, ...identity });

  const open = (method: string, path: string, init: CallInit): Promise<import('node:http').IncomingMessage> =>
    new Promise((resolve, reject) => {
      const body = init.text ?? (init.body === undefined ? undefined : JSON.stringify(init.body));
      const headers: Record<string, string> = { accept: init.accept ?? 'application/json' };
      if (body !== undefined) {
        headers['content-type'] = init.contentType ?? 'application/json';
        headers['content-length'] = String(Buffer.byteLength(body));
      }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  return {
    async call(method, path, init = {}) {
      const response = await open(method, path, init);
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      return { status: response.statusCode ?? 0, body: parseObject(text), text, headers: response.headers };
    },
    async *watch(path) {
      const response = await open('GET', path, {});
      try {
        if (response.statusCode !== 200) {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += chunk;
          throw new RefusedWatch({
            status: response.statusCode ?? 0,
            body: parseObject(text),
            text,
            headers: response.headers,
          });
        }
        let pending = '';
        for await (const chunk of response.setEncoding('utf8')) {
          const lines = (pending + chunk).split('\n');
          pending = lines.pop() ?? '';
          for (const line of lines) {
            const { type, object } = parseObject(line);
            yield { type: String(type), object: isJsonObject(object) ? object : {} };
          }
        }
      } finally {
        response.destroy();
      }
    },
    close: () => agent.destroy(),
  };
}
