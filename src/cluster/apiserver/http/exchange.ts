/** One HTTP exchange, whatever the protocol version: reading the body within bounds, writing answers, knowing when the client left. */
import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { parse as parseYaml } from 'yaml';
import { isObject, type JsonObject, toJson } from '../json.ts';
import { badRequest, tooLarge } from '../status-error.ts';
import { decodeProtobuf, PROTOBUF } from './protobuf.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Largest request body the real server takes. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Hides that HTTP/1.1 and HTTP/2 have requests and responses of different types. */
export interface Exchange {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  header(name: string): string;
  /** The body as object; an empty body gives undefined. Throws 400 for bad syntax and 413 for too much. */
  readObject(): Promise<JsonObject | undefined>;
  /** The body as any JSON or YAML value. */
  readValue(): Promise<unknown>;
  send(status: number, body: JsonObject | string, headers?: Readonly<Record<string, string>>): void;
  /** Breaks the connection (HTTP/1.1) or resets the stream (HTTP/2). */
  drop(): void;
}

/** Never throws: what cannot be read of a request is told when it is asked for. */
export function createExchange(request: HttpRequest, response: HttpResponse): Exchange {
  const { path, query } = targetOf(request.url ?? '/');
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client has closed the request')));

  const header = (name: string): string => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(', ') : (value ?? '');
  };

  const readBytes = async (): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      const part: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      bytes += part.length;
      if (bytes > MAX_BODY_BYTES) throw tooLarge(`limit is ${MAX_BODY_BYTES}`);
      chunks.push(part);
    }
    return Buffer.concat(chunks);
  };

  const readValue = async (): Promise<unknown> => {
    const bytes = await readBytes();
    if (bytes.length === 0) return undefined;
    if (header('content-type').startsWith(PROTOBUF)) return decodeProtobuf(bytes);
    const text = bytes.toString('utf8');
    try {
      return header('content-type').includes('yaml') && !text.trimStart().startsWith('{')
        ? parseYaml(text)
        : JSON.parse(text);
    } catch (error) {
      throw badRequest(`the body could not be parsed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  return {
    method: request.method ?? 'GET',
    path,
    query,
    request,
    response,
    signal: gone.signal,
    header,
    readValue,
    async readObject() {
      const value = await readValue();
      if (value === undefined) return undefined;
      const body = toJson(value);
      if (!isObject(body)) throw badRequest('the request body must be an object');
      return body;
    },
    send(status, body, headers = {}) {
      if (response.headersSent || gone.signal.aborted) return;
      const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
      const bytes = Buffer.from(text);
      startAnswer(response, status, {
        'content-type': 'application/json',
        'cache-control': 'no-cache, private',
        ...headers,
        'content-length': String(bytes.length),
      });
      endWith(response, bytes);
    },
    drop() {
      if ('stream' in response) response.stream.close();
      else response.destroy();
    },
  };
}

/** What HTTP lets through as a target need be no URL (`//`, for one): then it is a path that nothing serves. */
function targetOf(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const base = 'http://server';
  if (!URL.canParse(target, base)) return { path: target, query: new URLSearchParams() };
  const { pathname, searchParams } = new URL(target, base);
  return { path: pathname, query: searchParams };
}

/** Sends status and headers at once, before any byte of the body. */
export function startAnswer(response: HttpResponse, status: number, headers: Readonly<Record<string, string>>): void {
  if ('stream' in response) response.writeHead(status, headers);
  else response.writeHead(status, headers).flushHeaders();
}

/** Writes the last bytes; the two response types overload `end` differently. */
export function endWith(response: HttpResponse, bytes?: Buffer): void {
  if ('stream' in response) {
    if (bytes === undefined) response.end();
    else response.end(bytes);
  } else if (bytes === undefined) response.end();
  else response.end(bytes);
}

/** What the socket does not take at once waits in memory; watch streams bound it. */
export function writeTo(response: HttpResponse, text: string): void {
  if ('stream' in response) response.write(text);
  else response.write(text);
}
