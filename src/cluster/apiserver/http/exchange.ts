/** One HTTP exchange, whatever the protocol version: reading the body within bounds, writing answers, knowing when the client left. */

import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { parse as parseYaml, stringify as yamlOf } from 'yaml';
import { KubeError } from '../../../api/kube-error.ts';
import { goName } from '../go-text.ts';
import { isObject, type JsonObject, toJson } from '../json.ts';
import { badRequest, tooLarge, unrecognizedBody, unsupportedMediaType } from '../status-error.ts';
import { decodeProtobuf, PROTOBUF } from './protobuf.ts';
import { warningHeader } from './warning-header.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

const ACCEPTED_TYPES = ['application/json', 'application/yaml', PROTOBUF];
/** A body of no type is JSON. */
const MEDIA_TYPES: readonly string[] = [...ACCEPTED_TYPES, 'application/apply-patch+yaml'];
/** The struct by which the real server finds out what a body is. */
const TYPED = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** What is wrong with a text that is no JSON, in Go's words as far as they can be told. */
function syntaxProblem(text: string, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  if (text.trim() === '' || /end of|Unterminated/.test(why)) return 'unexpected end of JSON input';
  const at = /^Unexpected token '(.)/u.exec(why)?.[1];
  return at === undefined ? why : `invalid character '${at}' looking for beginning of value`;
}

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
  /** Sent with whatever is answered, failures included. */
  readonly warnings: string[];
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  header(name: string): string;
  /** The body as object; an empty body gives undefined. Throws 400 for bad syntax and 413 for too much. */
  readObject(): Promise<JsonObject | undefined>;
  /** The body of what is written, which there has to be. Throws 400 for all but objects, 415 for other media types. */
  readBody(kind: string): Promise<JsonObject>;
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

  const warnings: string[] = [];
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

  const parse = (bytes: Buffer): unknown => {
    if (header('content-type').startsWith(PROTOBUF)) return decodeProtobuf(bytes);
    const text = bytes.toString('utf8');
    const isYaml = header('content-type').includes('yaml') && !text.trimStart().startsWith('{');
    return isYaml ? parseYaml(text) : JSON.parse(text);
  };

  const readValue = async (): Promise<unknown> => {
    const bytes = await readBytes();
    if (bytes.length === 0) return undefined;
    try {
      return parse(bytes);
    } catch (error) {
      throw error instanceof KubeError ? error : badRequest('invalid JSON patch');
    }
  };

  const jsonText = (body: JsonObject): string =>
    isForPeople(query, header('user-agent')) ? JSON.stringify(body, null, 2) : `${JSON.stringify(body)}\n`;

  return {
    method: request.method ?? 'GET',
    path,
    query,
    request,
    response,
    warnings,
    signal: gone.signal,
    header,
    readValue,
    async readBody(kind) {
      const media = header('content-type').split(';')[0]?.trim() ?? '';
      if (!MEDIA_TYPES.includes(media) && media !== '')
        throw unsupportedMediaType(
          `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED_TYPES.join(', ')}`,
        );
      const bytes = await readBytes();
      const unrecognized = (problemOf: (text: string) => string): Error => {
        const text = bytes.toString('utf8');
        return unrecognizedBody(kind, `couldn't get version/kind; json parse error: ${problemOf(text)}`, text);
      };
      let value: unknown;
      try {
        value = parse(bytes);
      } catch (error) {
        throw error instanceof KubeError ? error : unrecognized((text) => syntaxProblem(text, error));
      }
      if (value === null) return {};
      const body = toJson(value);
      if (isObject(body)) return body;
      const what = goName(body);
      throw unrecognized(() => `json: cannot unmarshal ${what} into Go value of type ${TYPED}`);
    },
    async readObject() {
      const value = await readValue();
      if (value === undefined) return undefined;
      const body = toJson(value);
      if (!isObject(body)) throw badRequest('the request body must be an object');
      return body;
    },
    send(status, body, headers = {}) {
      if (response.headersSent || gone.signal.aborted) return;
      const isYaml = headers['content-type'] === 'application/yaml';
      const bytes = Buffer.from(typeof body === 'string' ? body : isYaml ? yamlText(body) : jsonText(body));
      const warning = warningHeader(warnings);
      // With the body: alone Node would write the headers as UTF-8 once more.
      writeHead(response, status, {
        'content-type': 'application/json',
        'cache-control': 'no-cache, private',
        ...(warning !== undefined && { warning }),
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

/** Whether JSON is indented. Source: isPrettyPrint of apiserver pkg/endpoints/handlers/negotiation/negotiate.go. */
function isForPeople(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  return asked ? /^(?:1|t|T|TRUE|true|True)$/.test(asked) : /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

/** Texts that are something else to readers of YAML 1.1 (`yes`, a date) are quoted, too, as Go does. */
function yamlText(body: JsonObject): string {
  return yamlOf(body, {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
    indentSeq: false,
    lineWidth: 0,
    sortMapEntries: true,
  });
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
  writeHead(response, status, headers);
  if (!('stream' in response)) response.flushHeaders();
}

function writeHead(response: HttpResponse, status: number, headers: Readonly<Record<string, string>>): void {
  if ('stream' in response) response.writeHead(status, headers);
  else response.writeHead(status, headers);
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
