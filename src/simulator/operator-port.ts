/**
 * The operator as the simulator uses it: the real one, in this process, on the embedded cluster's API. Whoever stands
 * above the wiring hands in its `startOperator`; the simulator itself may not see the wiring.
 */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { WorkloadExplanation } from '../controllers/placement/explain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import type { MutateHandler } from '../webhook/handler.ts';

export interface SimulatedOperatorOptions {
  readonly config: Config;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Unique to this replica. */
  readonly identity: string;
  /** Its `admit` is called for new pods, without a server between. */
  readonly isAskedDirectly: true;
}

export interface SimulatedOperator {
  /** The webhook's handler. */
  readonly admit: MutateHandler;
  /** A changed configuration, checked already. */
  applyConfig(config: Config): void;
  explain(ref: WorkloadRef): WorkloadExplanation | undefined;
  /** Rejects when the replica cannot go on; resolves after {@link stop}. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export type StartSimulatedOperator<O extends SimulatedOperator = SimulatedOperator> = (
  options: SimulatedOperatorOptions,
) => Promise<O>;
