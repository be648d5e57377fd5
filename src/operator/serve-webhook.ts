/** Opens the webhook's port with the certificate at hand and keeps that certificate current. */
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createCoordinatedHandler } from '../webhook/coordinate.ts';
import { createForwarder, type LeaderAddress } from '../webhook/forward.ts';
import type { MutateHandler } from '../webhook/handler.ts';
import { checkKeyPair, expiryOf, followKeyPair, isValidAt, readKeyPair } from '../webhook/key-pair-files.ts';
import { type KeyPair, startWebhookServer } from '../webhook/server.ts';

export interface ServeWebhookOptions {
  readonly config: Config;
  /** Served instead of the files in `webhook.certDir`; never reloaded. */
  readonly keyPair?: KeyPair | undefined;
  readonly host?: string | undefined;
  readonly handle: MutateHandler;
  readonly isLeader: () => boolean;
  /** Where the leader's webhook is, as far as it is known. */
  readonly leader: () => LeaderAddress | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ServedWebhook {
  readonly port: number;
  /** What is wrong with the certificate now; undefined when it is valid. */
  certificateProblem(): string | undefined;
  /** Follows the certificate until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  drain(): Promise<void>;
}

/** Less than Kubernetes gives a pod to end (30 s). */
const DRAIN_MILLIS = 10_000;

/** @throws StowageError when there is no usable certificate or the port cannot be opened. */
export async function serveWebhook(options: ServeWebhookOptions): Promise<ServedWebhook> {
  const { config, metrics, clock } = options;
  const { certDir, certificates, port } = config.webhook;
  const log = options.log.child('webhook');
  let current = options.keyPair;
  if (current !== undefined) checkKeyPair(current, 'memory');
  else if (certificates === 'files') current = await readKeyPair(certDir);
  else throw new StowageError('KEY_PAIR', 'webhook.certificates: self is not available here; set it to files.');

  const report = (pair: KeyPair): void =>
    metrics.set('stowage_certificate_expiry_timestamp_seconds', {}, expiryOf(pair) / 1000);
  report(current);
  let served: KeyPair = current;
  const { leader, isLeader, handle: decide } = options;
  const forwarder = createForwarder({ leader, certificate: () => served.cert, clock, log });
  const handle =
    config.placement.coordination === 'leader'
      ? createCoordinatedHandler({ decide, isLeader, forward: forwarder.forward })
      : (body: string) => decide(body);
  const host = options.host === undefined ? {} : { host: options.host };
  const server = await startWebhookServer({ port, ...host, keyPair: served, handle, clock, log });
  log.info({ port: server.port }, 'The webhook listens');

  return {
    port: server.port,
    certificateProblem: () => (isValidAt(served, clock.now()) ? undefined : 'the certificate is not valid now'),
    async run(signal) {
      if (options.keyPair !== undefined) return;
      const onChange = (pair: KeyPair): void => {
        server.setKeyPair(pair);
        served = pair;
        report(pair);
      };
      await followKeyPair({ directory: certDir, current: served, clock, log, onChange }, signal);
    },
    async drain() {
      await server.drain(DRAIN_MILLIS);
      forwarder.close();
    },
  };
}
