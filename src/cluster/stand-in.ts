/** What every stand-in of a Kubernetes component is made of and offers. Stand-ins are API clients and nothing else. */
import type { KubeApi } from '../api/kube-api.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Caches } from './caches.ts';

/** What all stand-ins of one cluster share. Against a real control plane the same, with a client over the network. */
export interface StandInContext {
  readonly api: KubeApi;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A component at rest; it acts only while `run` is pending. */
export interface StandIn {
  readonly name: string;
  /** Works until `signal` aborts, then resolves. Call once, after the caches have synced. */
  run(signal: AbortSignal): Promise<void>;
}
