/** Everything the server answers over HTTP: health, version, discovery, OpenAPI, usage metrics, and resources. */
import type { TLSSocket } from 'node:tls';
import type { Authentication, Credentials } from '../authentication.ts';
import type { JsonObject } from '../json.ts';
import type { Caller } from '../request.ts';
import type { TypeRegistry } from '../type-registry.ts';
import { aggregatedForm, discoveryOf, discoveryRoot } from './discovery.ts';
import {
  createExchange,
  type Exchange,
  endWith,
  type HttpRequest,
  type HttpResponse,
  startAnswer,
} from './exchange.ts';
import { sendFailure } from './handler.ts';
import { nothingAccepted, plainMediaType } from './media-type.ts';
import { openApiIndex, openApiV2, openApiV2Protobuf, openApiV3 } from './openapi.ts';
import { parseRoute, type Route } from './route.ts';

/** Version the server says it is: the one whose rules it follows. */
export const SERVED_VERSION = { major: '1', minor: '37', gitVersion: 'v1.37.2' } as const;

export interface FrontOptions {
  readonly registry: TypeRegistry;
  readonly authentication: Authentication;
  readonly handleResource: (
    exchange: Exchange,
    route: Extract<Route, { kind: 'resource' }>,
    caller: Caller,
  ) => Promise<void>;
  readonly log: (message: string) => void;
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/** Health needs no credentials, all else does. A failure ends as a Status, or as a broken connection by a fault. */
export function createFront({
  registry,
  authentication,
  handleResource,
  log,
}: FrontOptions): (request: HttpRequest, response: HttpResponse) => void {
  const serve = async (exchange: Exchange): Promise<void> => {
    const { path, request } = exchange;
    if (['/healthz', '/readyz', '/livez'].some((health) => path === health || path.startsWith(`${health}/`))) {
      exchange.send(200, 'ok', { 'content-type': 'text/plain; charset=utf-8' });
      return;
    }
    const caller = authentication.identify(credentialsOf(exchange, request));
    const route = parseRoute(path);
    if (route.kind === 'resource') {
      await handleResource(exchange, route, caller);
      return;
    }
    const document = documentOf(exchange, route);
    if (document === undefined)
      exchange.send(404, '404 page not found\n', { 'content-type': 'text/plain; charset=utf-8' });
    else exchange.send(200, document.body, { 'content-type': document.contentType });
  };

  const documentOf = (
    exchange: Exchange,
    route: Exclude<Route, { kind: 'resource' }>,
  ): { body: JsonObject; contentType: string } | undefined => {
    const types = registry.all();
    const inJson = (body: JsonObject | undefined) =>
      body === undefined ? undefined : { body, contentType: 'application/json' };
    const asAccepted = (body: JsonObject | undefined) =>
      body === undefined ? undefined : { body, contentType: plainMediaTypeOf(exchange) };
    switch (route.kind) {
      case 'discovery-root': {
        const form = aggregatedForm(exchange.header('accept'));
        const body = discoveryRoot(types, route.legacy, form?.version);
        return form === undefined ? asAccepted(body) : { body, contentType: form.contentType };
      }
      case 'discovery':
        return asAccepted(discoveryOf(types, route.group, route.version));
      default:
        if (route.path === '/version')
          return inJson({
            ...SERVED_VERSION,
            gitTreeState: 'clean',
            goVersion: '',
            compiler: '',
            platform: 'linux/amd64',
          });
        if (route.path === '/openapi/v3') return inJson(openApiIndex(types));
        if (route.path.startsWith('/openapi/v3/'))
          return inJson(openApiV3(types, route.path.slice('/openapi/v3/'.length)));
        if (route.path === '/')
          return inJson({ paths: ['/api', '/apis', '/healthz', '/openapi/v2', '/openapi/v3', '/version'] });
        return undefined;
    }
  };

  return (request, response) => {
    const exchange = createExchange(request, response);
    if (exchange.path === '/openapi/v2') {
      sendOpenApiV2(exchange);
      return;
    }
    serve(exchange).catch((error: unknown) => {
      if (exchange.response.headersSent)
        log(`apiserver: ${exchange.method} ${exchange.path}: failed after the answer began: ${String(error)}`);
      sendFailure(exchange, error);
    });
  };
}

/** @throws 406 */
function plainMediaTypeOf(exchange: Exchange): string {
  const accept = exchange.header('accept');
  const accepted = plainMediaType(accept);
  if (accepted === undefined) throw nothingAccepted(accept);
  return accepted;
}

function sendOpenApiV2(exchange: Exchange): void {
  if (!exchange.header('accept').startsWith(V2_PROTOBUF)) {
    exchange.send(200, openApiV2());
    return;
  }
  const bytes = openApiV2Protobuf();
  startAnswer(exchange.response, 200, {
    'content-type': V2_PROTOBUF.replace('@', '.'),
    'content-length': String(bytes.length),
  });
  endWith(exchange.response, bytes);
}

function credentialsOf(exchange: Exchange, request: HttpRequest): Credentials {
  const socket = ('stream' in request ? request.stream.session?.socket : request.socket) as TLSSocket | undefined;
  const certificate = socket?.authorized === true ? socket.getPeerCertificate() : undefined;
  const { CN, O } = certificate?.subject ?? {};
  const commonName = Array.isArray(CN) ? (CN[0] ?? '') : (CN ?? '');
  return {
    authorization: exchange.header('authorization'),
    certificate: commonName === '' ? undefined : { commonName, organizations: O === undefined ? [] : [O].flat() },
    impersonateUser: exchange.header('impersonate-user'),
    impersonateGroups: exchange
      .header('impersonate-group')
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== ''),
  };
}
