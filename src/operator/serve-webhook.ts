/** Opens the webhook's port with the certificate at hand and keeps that certificate current. */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Millis } from '../lib/units.ts';
import type { ServedCertificate } from '../web/endpoint-server.ts';
import { createCoordinatedHandler } from '../webhook/coordinated-handler.ts';
import { createForwarder, type LeaderAddress } from '../webhook/forward.ts';
import type { MutateHandler } from '../webhook/handler.ts';
import { validityOf } from '../webhook/key-pair-files.ts';
import { type BodyHandler, type KeyPair, startWebhookServer } from '../webhook/server.ts';
import { fixedKeyPair, type KeyPairSource, keyPairInFiles } from './key-pair-source.ts';
import { selfCertificate } from './self-certificate.ts';

export interface ServeWebhookOptions {
  readonly api: KubeApi;
  readonly config: Config;
  /** Served instead of what the configuration says; never renewed. */
  readonly keyPair?: KeyPair | undefined;
  readonly host?: string | undefined;
  readonly handle: MutateHandler;
  /** Handlers of further paths; each replica answers them by itself. */
  readonly also?: Readonly<Record<string, BodyHandler>> | undefined;
  readonly isLeader: () => boolean;
  /** The first lists are complete. */
  readonly isSynced: () => boolean;
  /** Where the leader's webhook is, as far as it is known. */
  readonly leader: () => LeaderAddress | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends what is waited for at the start. */
  readonly signal: AbortSignal;
}

/** Listens already; what follows the certificate has to be run. */
export interface ServedWebhook {
  readonly port: number;
  /** What it serves, for others that serve the same. */
  readonly certificate: ServedCertificate;
  /** What is wrong with the certificate now; undefined when it is valid. */
  certificateProblem(): string | undefined;
  /** Follows the certificate until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends. @param delayMillis how long new connections are taken all the same. */
  drain(delayMillis: Millis): Promise<void>;
}

/** Less than Kubernetes gives a pod to end (30 s). */
const DRAIN_MILLIS = 10_000;

/** @throws StowageError when there is no usable certificate or the port cannot be opened. */
export async function serveWebhook(options: ServeWebhookOptions): Promise<ServedWebhook> {
  const { config, metrics, clock } = options;
  const { port } = config.webhook;
  const log = options.log.child('webhook');
  const source = await keyPairSource(options, log);
  let served = source.first;
  const report = (): void => {
    const { notBeforeMillis, notAfterMillis } = validityOf(served);
    metrics.set('stowage_certificate_start_timestamp_seconds', {}, notBeforeMillis / 1000);
    metrics.set('stowage_certificate_expiry_timestamp_seconds', {}, notAfterMillis / 1000);
  };
  report();
  const { leader, handle: decide } = options;
  // Replicas change one after the other: the leader may still serve what this one has just replaced.
  let trusted = served.cert;
  const forwarder = createForwarder({ leader, certificate: () => trusted, clock, log });
  const handle =
    config.placement.coordination === 'leader'
      ? createCoordinatedHandler({
          ...options,
          decide,
          forward: forwarder.forward,
          onForwarded: (millis) => metrics.observe('spotalis_webhook_request_duration_seconds', {}, millis / 1000),
        })
      : (body: string) => decide(body);
  const host = options.host === undefined ? {} : { host: options.host };
  const server = await startWebhookServer({ port, ...host, keyPair: served, handle, also: options.also, clock, log });
  log.info({ port: server.port }, 'The webhook listens');

  const followers: (() => void)[] = [];

  return {
    port: server.port,
    certificate: { current: () => served, onChange: (listener) => void followers.push(listener) },
    certificateProblem() {
      const { notBeforeMillis, notAfterMillis } = validityOf(served);
      const now = clock.now();
      return notBeforeMillis <= now && now < notAfterMillis ? source.problem() : 'the certificate is not valid now';
    },
    run: (signal) =>
      source.follow((pair) => {
        server.setKeyPair(pair);
        trusted = `${pair.cert}\n${served.cert}`;
        served = pair;
        report();
        for (const follower of followers) follower();
      }, signal),
    async drain(delayMillis) {
      await server.drain({ delayMillis, graceMillis: DRAIN_MILLIS });
      forwarder.close();
    },
  };
}

function keyPairSource(options: ServeWebhookOptions, log: Logger): KeyPairSource | Promise<KeyPairSource> {
  const { keyPair, config, clock } = options;
  if (keyPair !== undefined) return fixedKeyPair(keyPair);
  return config.webhook.certificates === 'self'
    ? selfCertificate({ ...options, log })
    : keyPairInFiles(config.webhook.certDir, clock, log);
}
