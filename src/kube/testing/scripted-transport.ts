/** A transport without a network: a test answers each request itself. */
import { Readable } from 'node:stream';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON; text, chunks and streams as they are. */
  readonly body?: object | string | Iterable<Buffer> | Readable;
}

export interface ScriptedTransport {
  readonly transport: Transport;
  readonly requests: TransportRequest[];
  /** Throw to break the connection. */
  answer: (request: TransportRequest, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>;
}

const isIterable = (body: object): body is Iterable<Buffer> => Symbol.iterator in body;

export function createScriptedTransport(): ScriptedTransport {
  const requests: TransportRequest[] = [];
  const scripted: ScriptedTransport = {
    requests,
    answer: () => ({ body: {} }),
    transport: {
      async request(request): Promise<TransportResponse> {
        request.signal.throwIfAborted();
        requests.push(request);
        const { status = 200, headers = {}, body = {} } = await scripted.answer(request, requests.length);
        const stream = streamOf(body);
        // Told to who reads it, and to nobody where nobody does.
        stream.on('error', () => {});
        request.signal.addEventListener('abort', () => stream.destroy(request.signal.reason));
        return { status, headers, body: stream, wasCut: () => false };
      },
      close() {},
    },
  };
  return scripted;
}

function streamOf(body: NonNullable<ScriptedAnswer['body']>): Readable {
  if (body instanceof Readable) return body;
  if (typeof body === 'string') return Readable.from([Buffer.from(body)]);
  return Readable.from(isIterable(body) ? body : [Buffer.from(JSON.stringify(body))]);
}

/** An error answer as the API server words it. */
export function failure(
  code: number,
  reason: string,
  extra: { retryAfter?: string; causes?: string[] } = {},
): ScriptedAnswer {
  const causes = extra.causes?.map((cause) => ({ reason: cause }));
  return {
    status: code,
    headers: { ...(extra.retryAfter !== undefined && { 'retry-after': extra.retryAfter }) },
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code,
      reason,
      message: `${reason}!`,
      details: { causes },
    },
  };
}
