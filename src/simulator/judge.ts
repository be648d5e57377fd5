/** Watches one simulation: counts what happens, adds up what it cost, and holds the operator to the invariants. */
import type { Event } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { Side } from '../model/records.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { createDisruptionJudge } from './disruption-judge.ts';
import { createEvictionBound } from './eviction-bound.ts';
import { type FleetWatch, watchFleet } from './fleet-watch.ts';
import { createInvariantMonitor } from './invariants.ts';
import { createJournalJudge } from './journal-judge.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { SimulatedOperator } from './operator-port.ts';
import type { PolicyBook } from './policy-book.ts';
import { createProgressJudge } from './progress-judge.ts';
import { watchRemovals } from './removal-watch.ts';
import type { Tally } from './report.ts';
import { createRestJudge, type Explain } from './rest-judge.ts';
import { createRunTally, isUnsteered } from './run-tally.ts';
import { createSizeJudge } from './size-judge.ts';
import { createUntouchedJudge } from './untouched-judge.ts';
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

/** Everything is judged from what reached the API server: a write that a fault ate never happened. */
export interface Judge {
  readonly fleet: FleetWatch;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
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

/** Watches from now on; objects that are there already count as new. */
export function createJudge(options: JudgeOptions): Judge {
  const { cluster, config, clock, policies, replicas, hasQuota, sideOfNode, clockErrors } = options;
  const { caches } = cluster;
  const isDisturbed = (): boolean => cluster.server.faults.active().length > 0;
  const ledger = createLedger(clock);
  const accounts = createAccounts(clock);
  const tally = createRunTally();
  const bound = createEvictionBound(ledger);
  const progress = createProgressJudge(clock, ledger);
  const untouched = createUntouchedJudge(clock, ledger);
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
        rest.onChange(facts);
      },
      onWorkload(facts, before) {
        tally.onWorkload(facts, before);
        if (before === undefined) accounts.settle(facts);
        rest.onChange(facts);
        untouched.onWorkload(facts, before);
        bound.onWorkload(facts, before);
        monitor.cause(facts);
        progress.onCause(facts.uid);
      },
      onWorkloadGone: tally.onWorkloadGone,
      onPodAdded(facts, pod) {
        tally.onPodAdded(facts, pod);
        if (isUnsteered(facts, pod)) monitor.cause(facts);
        bound.onPodAdded(facts, pod);
        untouched.onPodAdded(facts, pod);
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
  const rest = createRestJudge({ clock, hasQuota, monitor, sizes });

  const settleAll = (): void => {
    for (const facts of fleet.workloads()) accounts.settle(facts);
  };
  const causeOnNode = (node: string): void => {
    for (const facts of fleet.workloads())
      if ([...facts.pods.values()].some((pod) => pod.node === node)) monitor.cause(facts);
  };
  caches.of(resources.nodes).onChange((before, after) => {
    const name = (after ?? before)?.metadata?.name ?? '';
    if (after === undefined || (after.spec?.taints?.length ?? 0) > (before?.spec?.taints?.length ?? 0))
      causeOnNode(name);
  });

  const onRemoval = watchRemovals({
    clock,
    fleet,
    isDisturbed,
    listener: {
      before({ pod, facts, seen }) {
        monitor.beforeRemoval(pod);
        if (facts === undefined || seen?.node === undefined) return;
        const isForSize = disruptions.beforeEviction(facts, seen, sizes.mayEvict(facts));
        if (isForSize) sizes.beforeEviction(pod);
      },
      onDone({ pod, uid, facts, seen }, at) {
        monitor.removed(pod);
        tally.onRemoved(seen);
        // Those for a size are bounded by what is to be sized.
        const isMove = facts !== undefined && !sizes.mayEvict(facts);
        if (isMove) progress.replaced(facts, uid);
        if (facts === undefined || seen?.node === undefined) {
          monitor.cause(facts);
          return;
        }
        disruptions.disrupted(facts, at);
        if (isMove) bound.onEvicted(facts);
      },
      onToldDone({ pod, facts }) {
        if (facts !== undefined) journal.evicted(facts, pod.metadata?.name ?? '');
      },
    },
  });

  return {
    fleet,
    accounts,
    ledger,
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
        const event = (body ?? {}) as Event;
        tally.onEvent(event.reason ?? '');
        return writes.onEvent(event);
      }
      if (resource === 'leases') return writes.onLease(write);
      tally.onWrite();
      const isRemoval = resource === 'pods/eviction' || (resource === 'pods' && verb === 'delete');
      const pod = isRemoval ? caches.of(resources.pods).get(`${namespace}/${name}`) : undefined;
      const settles = [writes.onWrite(write, identity), ...(pod === undefined ? [] : [onRemoval(pod)])];
      return (outcome) => {
        if (outcome.kind === 'done' && resource === 'optimizationpolicies') rest.onStatus(outcome.answer);
        for (const settle of settles) settle(outcome);
      };
    },
    onAdmission(answer) {
      tally.onAdmission();
      monitor.onAdmission(answer);
    },
    onNodeLost(node) {
      tally.onNodeLost();
      causeOnNode(node);
    },
    onNodeDrained: causeOnNode,
    onPools(isSpotAvailable) {
      settleAll();
      accounts.setSpotAvailable(isSpotAvailable);
      monitor.cause();
      progress.onCause();
    },
    settleAll,
    judgeRest: (explain, explainSizes) => rest.judge(fleet.workloads(), explain, explainSizes),
    tally: (elapsedMillis) => ({
      ...tally.counts(),
      ...sizes.tally(),
      elapsedMillis,
      evictionsBound: bound.total(),
      interruptions: cluster.autoscaler.interruptions(),
    }),
    reasons: tally.reasons,
  };
}
