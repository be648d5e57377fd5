/**
 * Opens the operator's ports: health, the webhook, metrics with explanations, and the dashboard, each where the
 * configuration has it on.
 */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { type EndpointServer, startEndpointServer } from '../web/endpoint-server.ts';
import { createReadyz, healthz, type ReadinessCheck } from '../web/health.ts';
import type { LeaderAddress } from '../webhook/forward.ts';
import type { MutateHandler } from '../webhook/handler.ts';
import type { BodyHandler, KeyPair } from '../webhook/server.ts';
import type { ExplainEndpointOptions } from './endpoints.ts';
import type { JournalEndpointOptions } from './journal-endpoint.ts';
import { serveMetrics } from './serve-metrics.ts';
import { type ServedWebhook, serveWebhook } from './serve-webhook.ts';

export interface OpenPortsOptions extends ExplainEndpointOptions, JournalEndpointOptions {
  readonly journal: JournalEndpointOptions['journal'] & ExplainEndpointOptions['journal'];
  readonly config: Config;
  readonly api: KubeApi;
  /** The webhook's certificate, where it does not come from files. */
  readonly keyPair?: KeyPair | undefined;
  /** Address the webhook listens on; default all. */
  readonly webhookHost?: string | undefined;
  readonly admit: MutateHandler;
  /** Paths of the webhook besides `/mutate`. */
  readonly policyHandlers: Readonly<Record<string, BodyHandler>> | undefined;
  /** Where the leader's webhook is, as far as it is known. */
  readonly leader: () => LeaderAddress | undefined;
  /** The first lists are complete. */
  readonly isSynced: () => boolean;
  /** What the process is ready by, besides the webhook's certificate. */
  readonly readiness: Readonly<Record<string, ReadinessCheck>>;
  /** Undefined where it is off or its port cannot be had. */
  readonly openDashboard: () => Promise<EndpointServer | undefined>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the wait for a certificate. */
  readonly signal: AbortSignal;
}

/** Ports that are listened on; undefined where the server is switched off. */
export interface OperatorPorts {
  readonly webhook: number | undefined;
  readonly metrics: number | undefined;
  readonly health: number | undefined;
  readonly dashboard: number | undefined;
}

/** Whoever has this has all ports open. */
export interface OpenPorts {
  readonly ports: OperatorPorts;
  readonly webhook: ServedWebhook | undefined;
  /** Closes all but the webhook, which is drained first by whoever stops the operator. */
  close(): Promise<void>;
}

/** All of them, or none. @throws StowageError when a port cannot be opened or the webhook has no usable certificate; the signal's reason when it aborts meanwhile. */
export async function openPorts(options: OpenPortsOptions): Promise<OpenPorts> {
  const { config, log } = options;
  const { health, metrics } = config.observability;
  const servers: EndpointServer[] = [];
  const kept = async (opening: Promise<EndpointServer>): Promise<number> => {
    const server = await opening;
    servers.push(server);
    return server.port;
  };
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())));
  let webhook: ServedWebhook | undefined;
  const certificate = (): string | undefined =>
    webhook === undefined && config.webhook.enabled ? 'it is not there yet' : webhook?.certificateProblem();
  const readyz = createReadyz({ ...options.readiness, certificate });
  const endpoints = { '/healthz': healthz, '/readyz': readyz };
  try {
    const healthPort = health.enabled
      ? await kept(
          startEndpointServer({ name: 'health', address: health.bindAddress, endpoints, log: log.child('health') }),
        )
      : undefined;
    if (config.webhook.enabled) {
      const { webhookHost: host, admit: handle, policyHandlers: also } = options;
      webhook = await serveWebhook({ ...options, host, handle, also });
    }
    const metricsPort = metrics.enabled
      ? await kept(serveMetrics({ ...options, certificate: webhook?.certificate }))
      : undefined;
    const dashboard = await options.openDashboard();
    if (dashboard !== undefined) servers.push(dashboard);
    const ports = { webhook: webhook?.port, metrics: metricsPort, health: healthPort, dashboard: dashboard?.port };
    return { ports, webhook, close };
  } catch (error) {
    await webhook?.drain(0);
    await close();
    throw error;
  }
}
