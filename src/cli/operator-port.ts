/**
 * The operator as the commands use it. `main.ts` passes the wiring's own `startOperator`, since only it may see the wiring;
 * tests pass another.
 */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';
import type { SourceProxy } from '../observe/usage/source-proxy.ts';
import type { SimulatedOperator } from '../simulator/operator-port.ts';

/** All an operator needs of its process; two of them may run in one. */
export interface StartOperatorOptions {
  readonly config: Config;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Unique to this process. */
  readonly identity: string;
  /** The webhook's certificate and key (PEM), where they do not come from files. */
  readonly keyPair?: { readonly cert: string; readonly key: string };
  /** Somebody in this process asks about new pods, whether or not a webhook is served. Default: not. */
  readonly isAskedDirectly?: boolean;
  /** Address the webhook listens on; default all. */
  readonly webhookHost?: string;
  /** Address at which other replicas reach this one's webhook; without it each decides by itself. */
  readonly advertisedHost?: string;
  /** How late the event loop runs, for the leader's caution. */
  readonly loopDelayMillis?: () => number;
  /** Milliseconds that nobody sets, to tell a clock that was set from a process that stood still. */
  readonly monotonic?: () => number;
  /** Ends a start that waits for the API server. */
  readonly signal?: AbortSignal;
  /** Which proxy leads to a source of usage. Default: none. */
  readonly sourceProxy?: SourceProxy;
  /** Where metrics go, shared with the API client; default: a registry of the operator's own. */
  readonly metrics?: Metrics;
}

/** An operator that has opened its ports. It may not lead, and its caches may still be filling. */
export interface RunningOperator extends SimulatedOperator {
  /** Undefined where the server is switched off. */
  readonly ports: {
    readonly webhook: number | undefined;
    readonly metrics: number | undefined;
    readonly health: number | undefined;
    readonly dashboard: number | undefined;
  };
  /** Resolves when all caches have had their first complete list. */
  readonly synced: Promise<void>;
  /** Resolves after {@link stop}; rejects when the operator cannot go on. */
  readonly ended: Promise<void>;
  /** Puts the settings that can change in a running process into force. */
  applyConfig(config: Config): void;
  stop(): Promise<void>;
}

/** Starts the operator; resolves when its ports are open. */
export type StartOperator = (options: StartOperatorOptions) => Promise<RunningOperator>;
