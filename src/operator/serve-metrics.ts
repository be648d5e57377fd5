/**
 * Opens the port of metrics and explanations: for everybody or for whom the cluster allows, over plain HTTP or with the
 * webhook's certificate.
 */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createAccessReview } from '../web/access-review.ts';
import {
  type Authorize,
  type EndpointServer,
  jsonAnswer,
  type ServedCertificate,
  startEndpointServer,
} from '../web/endpoint-server.ts';
import { createHostCheck } from '../web/host-check.ts';
import { createExplainEndpoint, createMetricsEndpoint, type ExplainEndpointOptions } from './endpoints.ts';
import { createJournalEndpoint, type JournalEndpointOptions } from './journal-endpoint.ts';

export interface ServeMetricsOptions extends ExplainEndpointOptions, JournalEndpointOptions {
  readonly journal: JournalEndpointOptions['journal'] & ExplainEndpointOptions['journal'];
  readonly config: Config;
  readonly api: KubeApi;
  readonly metrics: Metrics;
  /** Of the webhook; undefined where there is none. */
  readonly certificate: ServedCertificate | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** @throws StowageError (BIND) when the address cannot be listened on. */
export function serveMetrics(options: ServeMetricsOptions): Promise<EndpointServer> {
  const { api, clock, metrics, certificate } = options;
  const { observability, web } = options.config;
  const { bindAddress: address, authentication, tls } = observability.metrics;
  const log = options.log.child('metrics');
  return startEndpointServer({
    name: 'metrics',
    address,
    endpoints: {
      '/metrics': createMetricsEndpoint(metrics),
      '/explain': createExplainEndpoint(options),
      '/journal': createJournalEndpoint(options),
    },
    authorize: authentication === 'token' ? createAccessReview({ api, clock, log }) : createNameGuard(web.allowedHosts),
    certificate: tls ? certificate : undefined,
    log,
  });
}

/** Scrapers ask by any name. A token needs no such guard: no page in a browser has one. */
function createNameGuard(allowedHosts: readonly string[]): Authorize {
  const isOwnHost = createHostCheck(allowedHosts);
  const message = 'ask localhost, the address or NAME.NAMESPACE.svc, or list the name you use in web.allowedHosts';
  return async ({ path, headers }) =>
    path === '/metrics' || isOwnHost(headers.host) ? undefined : jsonAnswer(403, { code: 'FORBIDDEN', message });
}
