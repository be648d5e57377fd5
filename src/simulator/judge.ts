/** Watches one simulation: counts what happens, adds up what it cost, and holds the operator to the invariants. */
import type { Event, Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { ascending } from '../lib/ascending.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { Side } from '../model/records.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { createDisruptionJudge } from './disruption-judge.ts';
import { createEvictionBound } from './eviction-bound.ts';
import { type FleetWatch, type WorkloadFacts, watchFleet } from './fleet-watch.ts';
import { createInvariantMonitor, type InvariantMonitor } from './invariants.ts';
import { createJournalJudge } from './journal-judge.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { SimulatedOperator } from './operator-port.ts';
import type { PolicyBook } from './policy-book.ts';
import { createPolicyReports } from './policy-reports.ts';
import { createProgressJudge } from './progress-judge.ts';
import type { Tally } from './report.ts';
import { createSizeJudge } from './size-judge.ts';
import type { ObservedWrite, SettleWrite } from './watched-api.ts';
import type { AdmissionSeen, ClockErrors } from './world.ts';
import { createWriteJudge } from './write-judge.ts';

/** The judge sees the cluster and what replicas tell of themselves, never their decisions. */
export interface JudgeOptions {
  readonly cluster: Cluster;
  readonly config: Config;
  readonly clock: Clock;
  readonly policies: PolicyBook;
  readonly replicas: () => Iterable<SimulatedOperator>;
  readonly hasQuota: (namespace: string) => boolean;
  readonly sideOfNode: (name: string) => Side | undefined;
  readonly clockErrors: () => ClockErrors;
}

/** In the operator's words; undefined: it has none. */
type Explain = (facts: WorkloadFacts) => string | undefined;

/** Everything is judged from what reached the API server: a write that a fault ate never happened. */
export interface Judge {
  readonly fleet: FleetWatch;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly monitor: InvariantMonitor;
  /** For {@link watchApi}. */
  onWrite(write: ObservedWrite, identity: string): SettleWrite | undefined;
  onRead(verb: 'list' | 'watch', resource: string, identity: string): void;
  onAdmission(answer: AdmissionSeen): void;
  /** Replicas of the operator may have this configuration from now on. */
  onConfig(config: Config): void;
  /** Replicas of the operator came or went, or their clocks were set: nobody need remember what failed. */
  onOperatorChange(): void;
  /** A node was lost without notice. */
  onNodeLost(node: string): void;
  /** Somebody else makes pods of a node go. */
  onNodeDrained(node: string): void;
  /** Pools were opened or closed. */
  onPools(isSpotAvailable: boolean): void;
  /** Brings the sums up to the present. */
  settleAll(): void;
  /** Judges workloads that nothing happened to for a while. */
  judgeRest(explain: Explain, explainSizes: Explain): void;
  tally(elapsedMillis: Millis): Tally;
  /** The operator's events so far, by reason. */
  reasons(): Readonly<Record<string, number>>;
}

/** Nothing happened for this long: failed moves are tried again after an hour at most, and say so meanwhile. */
const REST_MILLIS: Millis = 20 * 60_000;
/** Replicas have seen by then that a workload is no longer managed. */
const UNMANAGED_MILLIS: Millis = 60_000;
/** The cluster's caches have seen within it what a write did. */
const SEEN_MILLIS: Millis = 10;

/** Watches from now on; objects that are there already count as new. */
export function createJudge(options: JudgeOptions): Judge {
  const { cluster, config, clock, policies, replicas, hasQuota, sideOfNode, clockErrors } = options;
  const { caches } = cluster;
  const ledger = createLedger(clock);
  const accounts = createAccounts(clock);
  const bound = createEvictionBound();
  const reasons = new Map<string, number>();
  const changedAt = new Map<string, number>();
  const evictionsOf = new Map<string, number>();
  const unmanagedSince = new Map<string, EpochMillis>();
  const counted = {
    podsPeak: 0,
    evictions: 0,
    fallbacks: 0,
    returns: 0,
    nodesLost: 0,
    rollouts: 0,
    scalings: 0,
    admissions: 0,
    unsteered: 0,
    events: 0,
    writes: 0,
  };
  let replicasNow = 0;
  const isDisturbed = (): boolean => cluster.server.faults.active().length > 0;
  const progress = createProgressJudge(clock, ledger);
  const reports = createPolicyReports();
  const disruptions = createDisruptionJudge({ caches, config, clock, ledger, clockErrors });
  const writes = createWriteJudge({
    config,
    clock,
    ledger,
    isDisturbed,
    isMeddled: () => cluster.server.core.localWebhooks.size > 1,
  });

  const fleet = watchFleet({
    caches,
    config,
    sideOfNode,
    listener: {
      before(facts) {
        accounts.settle(facts);
        disruptions.beforeChange(facts);
        progress.beforeChange(facts);
        changedAt.set(facts.uid, clock.now());
      },
      onWorkload(facts, before) {
        replicasNow += facts.replicas - (before?.replicas ?? 0);
        counted.podsPeak = Math.max(counted.podsPeak, replicasNow);
        if (before === undefined) accounts.settle(facts);
        else if (before.replicas !== facts.replicas) counted.scalings++;
        else if (before.generation !== facts.generation) counted.rollouts++;
        changedAt.set(facts.uid, clock.now());
        if (facts.rule !== undefined) unmanagedSince.delete(facts.uid);
        else if (!unmanagedSince.has(facts.uid))
          unmanagedSince.set(facts.uid, before === undefined ? Number.NEGATIVE_INFINITY : clock.now());
        bound.onWorkload(facts, before);
        monitor.cause(facts);
        progress.onCause(facts.uid);
      },
      onWorkloadGone(facts) {
        replicasNow -= facts.replicas;
      },
      onPodAdded(facts, pod) {
        if (facts.rule !== undefined && pod.slot === undefined) {
          counted.unsteered++;
          monitor.cause(facts);
        }
        bound.onPodAdded(facts, pod);
        const isLong = clock.now() - (unmanagedSince.get(facts.uid) ?? clock.now()) > UNMANAGED_MILLIS;
        if (facts.rule === undefined)
          ledger.check('untouched', pod.slot === undefined || !isLong, () => `${facts.key}: ${pod.name} has a place`);
      },
      onPodGone(facts, pod) {
        monitor.podGone(pod.uid);
        progress.podGone(facts, pod.uid);
      },
    },
  });
  const sizes = createSizeJudge({
    cluster,
    config,
    clock,
    ledger,
    policies,
    fleet: () => fleet,
    evictions: () => monitor.underWay(),
    onRollout: disruptions.onRollout,
  });
  const journal = createJournalJudge({ ledger, clock, replicas, clockErrors, isDisturbed });
  const monitor = createInvariantMonitor({ caches, fleet, config, ledger, sizes });

  const causeOnNode = (node: string): void => {
    for (const facts of fleet.workloads())
      if ([...facts.pods.values()].some((pod) => pod.node === node)) monitor.cause(facts);
  };
  caches.of(resources.nodes).onChange((before, after) => {
    const name = (after ?? before)?.metadata?.name ?? '';
    if (after === undefined || (after.spec?.taints?.length ?? 0) > (before?.spec?.taints?.length ?? 0))
      causeOnNode(name);
  });

  const onRemoval = (pod: Pod): SettleWrite => {
    monitor.beforeRemoval(pod);
    const uid = pod.metadata?.uid ?? '';
    const facts = fleet.workloadOfPod(uid);
    const seen = facts?.pods.get(uid);
    if (facts !== undefined && seen?.node !== undefined) {
      const isForSize = disruptions.beforeEviction(facts, seen, sizes.mayEvict(facts));
      if (isForSize) sizes.beforeEviction(pod);
    }
    const onDone = (at: EpochMillis): void => {
      monitor.removed(pod);
      if (facts !== undefined && !sizes.mayEvict(facts)) progress.replaced(facts, uid);
      if (facts !== undefined && seen?.node !== undefined) disruptions.disrupted(facts, at);
      if (seen?.node === undefined) {
        counted.fallbacks++;
        monitor.cause(facts);
        return;
      }
      counted.evictions++;
      if (seen.isCover) counted.returns++;
      // Those for a size are bounded by what is to be sized.
      if (facts === undefined || sizes.mayEvict(facts)) return;
      const evicted = (evictionsOf.get(facts.uid) ?? 0) + 1;
      evictionsOf.set(facts.uid, evicted);
      monitor.judgeBound(facts, evicted, bound.of(facts.uid), bound.describe(facts.uid));
    };
    return ({ kind }) => {
      const at = clock.now();
      if (kind === 'done') {
        onDone(at);
        if (facts !== undefined) journal.evicted(facts, pod.metadata?.name ?? '');
        return;
      }
      // Done twice, it is refused the second time.
      const mayBeDone = kind === 'unknown' || (isDisturbed() && seen?.isLive === true);
      if (mayBeDone) clock.setTimer(SEEN_MILLIS, () => isGoing(uid, facts) && onDone(at));
    };
  };
  /** Whoever asked; that of an eviction without an answer is taken to be it. */
  const isGoing = (uid: string, facts: WorkloadFacts | undefined): boolean =>
    facts?.pods.get(uid)?.isTerminating !== false;

  /** Pods that a quota keeps from being made are nobody's to place. */
  const heldBack = ({ key, counts, replicas }: WorkloadFacts): string | undefined => {
    const [namespace = ''] = key.split('/');
    return hasQuota(namespace) && counts.live < replicas ? 'a quota keeps pods from being made' : undefined;
  };

  return {
    fleet,
    accounts,
    ledger,
    monitor,
    onConfig(changed) {
      disruptions.onConfig(changed);
      progress.onCause();
    },
    onOperatorChange() {
      progress.onCause();
      sizes.onOperatorChange();
    },
    onRead: writes.onRead,
    onWrite(write, identity) {
      monitor.onWrite(write);
      const { verb, resource, namespace, name, body } = write;
      if (resource === 'events') {
        if (verb !== 'create') return undefined;
        counted.events++;
        const event = (body ?? {}) as Event;
        const { reason = '' } = event;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        return writes.onEvent(event);
      }
      if (resource === 'leases') return writes.onLease(write);
      counted.writes++;
      const isRemoval = resource === 'pods/eviction' || (resource === 'pods' && verb === 'delete');
      const pod = isRemoval ? caches.of(resources.pods).get(`${namespace}/${name}`) : undefined;
      const settles = [writes.onWrite(write, identity), ...(pod === undefined ? [] : [onRemoval(pod)])];
      return (outcome) => {
        if (outcome.kind === 'done' && resource === 'optimizationpolicies') reports.onStatus(outcome.answer);
        for (const settle of settles) settle(outcome);
      };
    },
    onAdmission(answer) {
      counted.admissions++;
      monitor.onAdmission(answer);
    },
    onNodeLost(node) {
      counted.nodesLost++;
      causeOnNode(node);
    },
    onNodeDrained: causeOnNode,
    onPools(isSpotAvailable) {
      for (const facts of fleet.workloads()) accounts.settle(facts);
      accounts.setSpotAvailable(isSpotAvailable);
      monitor.cause();
      progress.onCause();
    },
    settleAll() {
      for (const facts of fleet.workloads()) accounts.settle(facts);
    },
    judgeRest(explain, explainSizes) {
      for (const facts of fleet.workloads()) {
        const since = changedAt.get(facts.uid) ?? clock.now();
        if (clock.now() - since < REST_MILLIS) continue;
        if (facts.rule !== undefined) monitor.judgeRest(facts, explain(facts) ?? heldBack(facts));
        sizes.judgeRest(facts, () => reports.of(facts) ?? explainSizes(facts));
      }
    },
    tally: (elapsedMillis) => ({
      ...counted,
      ...sizes.tally(),
      elapsedMillis,
      evictionsBound: bound.total(),
      interruptions: cluster.autoscaler.interruptions(),
    }),
    reasons: () => Object.fromEntries([...reasons].sort(([left], [right]) => ascending(left, right))),
  };
}
