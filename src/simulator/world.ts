/** A cluster and the real operator on it in one process and in virtual time, with admissions answered by the operator itself. */
import type { KubeApi } from '../api/kube-api.ts';
import { type Cluster, type ClusterOptions, createCluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { StowageError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import type { VirtualClock } from '../lib/virtual-clock.ts';
import { watchCalls } from './call-watch.ts';
import type { SimulatedOperator, StartSimulatedOperator } from './operator-port.ts';
import { type SkewedClock, skewClock } from './skewed-clock.ts';
import { type ObservedWrite, type SettleWrite, watchApi } from './watched-api.ts';

/** The same clock and dice drive the cluster and all replicas, so that a seed decides a whole run. */
export interface WorldOptions<O extends SimulatedOperator> {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: Logger;
  readonly cluster: Omit<ClusterOptions, 'clock' | 'random' | 'log'>;
  readonly startOperator: StartSimulatedOperator<O>;
  /** That replicas start with; {@link World.applyConfig} changes it. */
  readonly config: Config;
  /** How far ahead a replica's clock is; default 0. */
  readonly skewOf?: (identity: string) => Millis;
  /** The user a replica talks to the API as. Default: one that may do everything. */
  readonly userOf?: (identity: string) => string;
  /** Sees every write of every replica, in the moment before it. */
  readonly observer?: {
    onWrite(write: ObservedWrite, identity: string): SettleWrite | undefined;
    onRead?(verb: 'list' | 'watch', resource: string, identity: string): void;
  };
  /** Told of every answer of the webhook: whether the pod was let in, or the error in its place. */
  readonly onAdmission?: (answer: AdmissionSeen) => void;
}

/** One answer of the webhook as the API server got it, or the error in its place (`status` 500). */
export interface AdmissionSeen {
  readonly status: number;
  readonly allowed: boolean;
  readonly tookMillis: Millis;
  readonly error?: unknown;
}

/** What befalls calls of the webhook; pods are admitted without it, as with `failurePolicy: Ignore`. */
export interface WebhookTrouble {
  /** Of the pods, 0..1. */
  readonly share: number;
  /** `answers`: the operator decides, but the API server has given up on it. */
  readonly loses: 'requests' | 'answers';
}

/** Springs once. */
export interface WriteTrap {
  /** As in {@link ObservedWrite}. */
  readonly resource: string;
  /** Whether the API server gets the write. */
  readonly moment: 'before' | 'after';
  readonly onSprung: () => void;
}

export interface ClockErrors {
  /** The most that one was ahead or behind. */
  readonly mostMillis: Millis;
  /** The same, of those that run. */
  readonly presentMillis: Millis;
  /** Some clock was set while its replica ran: its times are no longer in order. */
  readonly wereSet: boolean;
}

/** Identities name replicas; one that was stopped or cut off does not come back under its name. */
export interface World<O extends SimulatedOperator> {
  readonly cluster: Cluster;
  readonly api: KubeApi;
  readonly clock: VirtualClock;
  /** While false, pods are admitted without asking the operator, as with `failurePolicy: Ignore`. */
  setWebhookUp(isUp: boolean): void;
  /** The same for a part of the pods only; undefined ends it. */
  setWebhookTrouble(trouble: WebhookTrouble | undefined): void;
  /** The configuration of replicas that start from now on and, unless told otherwise, of those that run. */
  applyConfig(config: Config, replicas?: Iterable<O>): void;
  /** Starts one more replica. Admissions go to the last one started that is neither stopped nor cut off. */
  startReplica(identity: string): Promise<O>;
  /** Ends a replica in order. */
  stopReplica(identity: string): Promise<void>;
  /** From now on the replica reaches neither the API server nor is it reached: as if its machine were gone. */
  cutOff(identity: string): void;
  /** Cuts off whoever makes the next write of a resource. @returns what gives up waiting for it. */
  trapWrite(trap: WriteTrap): () => void;
  /** Until the function it returns is called, the replica reaches the API server no more; it is reached. */
  isolate(identity: string): () => void;
  /** Somebody sets the clock of the replica's machine; negative is back. */
  setClock(identity: string, byMillis: Millis): void;
  /** How wrong clocks of replicas are, or were. */
  clockErrors(): ClockErrors;
  /** The replica that admissions go to. */
  lastReplica(): O | undefined;
  /** All replicas that are neither stopped nor cut off, by identity. */
  replicas(): ReadonlyMap<string, O>;
  /** Lets time pass until `work` is done. @throws StowageError where that takes longer than anything should */
  settled<T>(work: Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/** The Service that the webhook's configuration names. */
export const WEBHOOK_SERVICE = 'spotalis-system/spotalis';
/** How far time moves between two looks at something awaited. */
export const STEP_MILLIS = 250;
/** Whatever starts, ends or is applied has long been by then, though a fault froze it. */
const PATIENCE_MILLIS: Millis = 3_600_000;

/** The API server no longer waits for the answer that came. */
class LostAnswer extends Error {
  override readonly name = 'LostAnswer';

  constructor() {
    super('context deadline exceeded');
  }
}

/** A running cluster. The webhook's configuration and all other objects are the caller's to apply. */
export async function createWorld<O extends SimulatedOperator>(options: WorldOptions<O>): Promise<World<O>> {
  const { clock, random, log, startOperator, skewOf = () => 0 } = options;
  let { config } = options;
  const stopper = new AbortController();
  const running = new Map<string, O>();
  const lost = new Map<string, O>();
  const clocks = new Map<string, SkewedClock>();
  const errors = { mostMillis: 0, wereSet: false };
  let trouble: WebhookTrouble | undefined;
  const cluster = createCluster({ ...options.cluster, clock, random, log });
  const { api, server } = cluster;
  watchCalls(server.faults, clock);
  const lastReplica = (): O | undefined => [...running.values()].at(-1);
  const traps = new Set<WriteTrap>();
  const cutOff = (identity: string): void => {
    const operator = running.get(identity);
    if (operator === undefined) return;
    running.delete(identity);
    lost.set(identity, operator);
  };
  const reach = (identity: string): void => {
    if (lost.has(identity)) throw new Error('connect ETIMEDOUT');
  };
  /** @returns the trap that waits for the write, which has sprung. */
  const spring = (identity: string, { resource }: ObservedWrite): WriteTrap | undefined => {
    const sprung = [...traps].find((each) => each.resource === resource && running.has(identity));
    if (sprung === undefined) return undefined;
    traps.delete(sprung);
    sprung.onSprung();
    return sprung;
  };

  const settled = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (const givesUpAt = clock.now() + PATIENCE_MILLIS; !isDone; await clock.advance(STEP_MILLIS))
      if (clock.now() >= givesUpAt)
        throw new StowageError('SIMULATION_STUCK', 'A part of the simulation has not started or ended within an hour.');
    return done;
  };

  // A webhook that is down is one that cannot be reached: the configuration says Ignore.
  server.core.localWebhooks.set(WEBHOOK_SERVICE, async (review) => {
    const operator = lastReplica();
    const lost = trouble !== undefined && random.next() < trouble.share ? trouble.loses : undefined;
    if (operator === undefined || lost === 'requests') throw new Error('connection refused');
    const askedAt = clock.now();
    try {
      const { status, body } = await operator.admit(JSON.stringify(review));
      const answer = JSON.parse(body) as { readonly response?: { readonly allowed?: boolean } };
      options.onAdmission?.({ status, allowed: answer.response?.allowed === true, tookMillis: clock.now() - askedAt });
      if (lost === 'answers') throw new LostAnswer();
      return answer;
    } catch (error) {
      if (error instanceof LostAnswer) throw error;
      options.onAdmission?.({ status: 500, allowed: false, tookMillis: clock.now() - askedAt, error });
      throw error;
    }
  });

  const apiOf = (identity: string): KubeApi =>
    watchApi(options.userOf === undefined ? api : server.client({ user: options.userOf(identity) }), {
      onWrite(write) {
        const trap = spring(identity, write);
        if (trap?.moment === 'before') {
          cutOff(identity);
          reach(identity);
        }
        const settle = options.observer?.onWrite(write, identity);
        // Nobody is left to act on the answer.
        if (trap !== undefined) cutOff(identity);
        return settle;
      },
      onRead: (verb, resource) => options.observer?.onRead?.(verb, resource, identity),
      reach: () => reach(identity),
    });

  await settled(cluster.start(stopper.signal));
  return {
    cluster,
    api,
    clock,
    setWebhookUp(isUp) {
      trouble = isUp ? undefined : { share: 1, loses: 'requests' };
    },
    setWebhookTrouble(next) {
      trouble = next;
    },
    applyConfig(next, replicas = running.values()) {
      config = next;
      for (const replica of replicas) replica.applyConfig(next);
    },
    async startReplica(identity) {
      const ownClock = skewClock(clock, skewOf(identity));
      clocks.set(identity, ownClock);
      errors.mostMillis = Math.max(errors.mostMillis, Math.abs(ownClock.skewMillis));
      const operator = await startOperator({
        config,
        api: apiOf(identity),
        clock: ownClock,
        random,
        log,
        identity,
        isAskedDirectly: true,
      });
      running.set(identity, operator);
      return operator;
    },
    async stopReplica(identity) {
      const operator = running.get(identity);
      running.delete(identity);
      await operator?.stop();
    },
    cutOff,
    trapWrite(trap) {
      traps.add(trap);
      return () => void traps.delete(trap);
    },
    isolate(identity) {
      const { userOf } = options;
      if (userOf === undefined) throw new Error('Replicas without users of their own cannot be told apart.');
      const { remove } = server.faults.add({ users: [userOf(identity)], effect: { kind: 'outage' } });
      return remove;
    },
    setClock(identity, byMillis) {
      const set = clocks.get(identity);
      if (set === undefined) return;
      set.set(byMillis);
      errors.wereSet = true;
      errors.mostMillis = Math.max(errors.mostMillis, Math.abs(set.skewMillis));
    },
    clockErrors: () => ({
      ...errors,
      presentMillis: Math.max(0, ...[...running.keys()].map((each) => Math.abs(clocks.get(each)?.skewMillis ?? 0))),
    }),
    lastReplica,
    replicas: () => running,
    settled,
    async stop() {
      const all = [...running.values(), ...lost.values()];
      await settled(Promise.all(all.map((operator) => operator.stop())));
      stopper.abort();
      await settled(cluster.stop());
    },
  };
}
