/** The HTTP endpoints of simulated kubelets, one port each, for real scrapers: metrics-server and Prometheus. */
import type { HttpRequest, HttpResponse } from '../apiserver/http/exchange.ts';
import { type ListeningServer, listen, type TlsMaterial } from '../apiserver/http/listen.ts';
import { cadvisorMetrics } from './cadvisor-metrics.ts';
import type { NodeUsage } from './node-usage.ts';
import { resourceMetrics } from './resource-metrics.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

export interface EndpointOptions {
  /** The kubelets' certificate, one for all; absent: plain HTTP, which metrics-server refuses. */
  readonly tls?: TlsMaterial;
  /** Default: loopback. */
  readonly host?: string;
  /**
   * Whether a caller with this bearer token may read; undefined: without a token. A real kubelet asks the API server.
   * Default: everyone may.
   */
  readonly authorize?: (token: string | undefined) => boolean;
}

/** Listens on loopback unless told otherwise; needs a clock that runs. */
export interface KubeletEndpoints {
  /** Starts serving a node's metrics. @returns the port, picked by the system; the same one when asked again. */
  open(node: string): Promise<number>;
  /** Serves the node's metrics no more. */
  closeOf(node: string): Promise<void>;
  close(): Promise<void>;
}

/** @param usageOf what a node uses now; undefined while it is cut off, which breaks the connection. */
export function createKubeletEndpoints(
  usageOf: (node: string) => NodeUsage | undefined,
  { tls, host, authorize = () => true }: EndpointOptions = {},
): KubeletEndpoints {
  const servers = new Map<string, Promise<ListeningServer>>();

  const handle = (node: string, request: HttpRequest, response: HttpResponse): void => {
    const usage = usageOf(node);
    if (usage === undefined) {
      request.destroy();
      return;
    }
    const [path = ''] = (request.url ?? '').split('?');
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const send = (status: number, text: string): void => {
      response.statusCode = status;
      response.setHeader('content-type', status === 200 ? CONTENT_TYPE : 'text/plain; charset=utf-8');
      response.end(text);
    };
    if (path === '/healthz') send(200, 'ok');
    else if (!authorize(token)) send(401, 'Unauthorized');
    else if (path === '/metrics/resource') send(200, resourceMetrics(usage));
    else if (path === '/metrics/cadvisor') send(200, cadvisorMetrics(usage));
    else send(404, '404 page not found\n');
  };

  return {
    async open(node) {
      const known = servers.get(node);
      if (known !== undefined) return (await known).port;
      const opening = listen((request, response) => handle(node, request, response), {
        ...(host === undefined ? {} : { host }),
        ...(tls === undefined ? {} : { tls }),
      });
      servers.set(node, opening);
      return (await opening).port;
    },
    async closeOf(node) {
      const server = servers.get(node);
      servers.delete(node);
      await (await server)?.close();
    },
    async close() {
      const open = await Promise.all(servers.values());
      servers.clear();
      await Promise.all(open.map((server) => server.close()));
    },
  };
}
