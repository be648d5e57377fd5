/** Holds the sizing engines to their invariants: every change of a pod's or template's size is theirs, and is judged as the watch tells it. */
import type { Deployment, Pod, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { type Container, describeStep, qosOf, type SizeStep, sizeOf, sizeSteps } from './container-sizes.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import { createInForceJudge } from './in-force-judge.ts';
import type { Ledger } from './ledger.ts';
import type { PolicyBook } from './policy-book.ts';
import { createReplicaJudge } from './replica-judge.ts';
import { createResizeJudge } from './resize-judge.ts';
import { isByRival } from './rivals.ts';
import { createRolloutsUnderWay } from './rollouts-under-way.ts';
import { createSizeConsent, updatesOf } from './size-consent.ts';
import { checkSteady, createSizeHistory } from './size-history.ts';
import { createYieldJudge } from './yield-judge.ts';

/** What policies say is read as people wrote it, not as the operator parsed it. */
export interface SizeJudgeOptions {
  readonly cluster: Cluster;
  readonly config: Config;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly policies: PolicyBook;
  readonly fleet: () => FleetWatch;
  /** Evictions by the operator that are under way. */
  readonly evictions: () => number;
  /** A workload's template got another size. @param isTurnedBack the one from before the rollout that is under way */
  readonly onRollout: (facts: WorkloadFacts, isTurnedBack: boolean) => void;
}

/** What placement's judge asks of sizes. */
export interface SizeJudge {
  mayEvict(facts: WorkloadFacts): boolean;
  /** The operator evicts the pod for its size: nothing else explains it. */
  beforeEviction(pod: Pod): void;
  /** Replicas of the operator came or went. */
  onOperatorChange(): void;
  /** Rollouts of new sizes that hold a place of the budget. */
  rollouts(): number;
  /** Of a workload that nothing happened to for a while. @param explanation what is told of its sizes lately */
  judgeRest(facts: WorkloadFacts, explanation: () => string | undefined): void;
  tally(): SizeTally;
}

/** Counted as the watch told them; kills include those of pods nobody sized. */
export interface SizeTally {
  readonly resizes: number;
  readonly retemplates: number;
  readonly oomKills: number;
}

type Workload = Deployment | StatefulSet;

export function createSizeJudge(options: SizeJudgeOptions): SizeJudge {
  const { cluster, config, clock, ledger, policies, fleet } = options;
  const { caches } = cluster;
  const { check } = ledger;
  const history = createSizeHistory(clock);
  const consent = createSizeConsent({ caches, config, policies, fleet });
  const resizes = createResizeJudge({ cluster, clock, ledger, consent, history });
  const apart = createReplicaJudge(clock, ledger);
  const rivals = createYieldJudge(clock, ledger);
  const rollouts = createRolloutsUnderWay(clock, config.placement.stuckRolloutAfter);
  /** Templates from before the last rollout of a size, by workload. */
  const origins = new Map<string, readonly Container[]>();
  const counted = { resizes: 0, retemplates: 0, oomKills: 0 };

  const forget = (key: string): void => {
    rollouts.end(key);
    origins.delete(key);
  };
  const onTemplate = (kind: string, before: Workload, after: Workload): void => {
    const [old, now] = [before.spec?.template.spec?.containers ?? [], after.spec?.template.spec?.containers ?? []];
    const steps = sizeSteps(old, now);
    const key = `${kind} ${after.metadata?.namespace}/${after.metadata?.name}`;
    if (steps.length > 0 && isByRival(before, after)) rivals.templateTaken(after);
    else if (steps.length > 0) {
      counted.retemplates++;
      const told = steps.map(describeStep).join(', ');
      rivals.retemplated(after, told);
      const active = consent.of(after.metadata?.namespace ?? '', after.metadata?.labels);
      check('consent', active.length > 0, () => `${key}: ${told}, and nothing allows it`);
      check(
        'restarts',
        active.some((spec) => updatesOf(spec)['allowRecreate'] === true),
        () => `${key}: ${told}`,
      );
      check('qos', qosOf(old) === qosOf(now), () => `${key}: ${told} makes ${qosOf(old)} ${qosOf(now)}`);
      for (const step of steps) checkSteady(ledger, history, { uid: key, name: key, step });
      const origin = origins.get(key);
      const isTurnedBack = origin !== undefined && isRollingOut(before) && isBackAt(origin, steps);
      if (!isTurnedBack) origins.set(key, old);
      const underWay = rollouts.count() + options.evictions();
      const limit = config.placement.maxConcurrentEvictions;
      check(
        'concurrency',
        underWay < limit || (isTurnedBack && rollouts.has(key)),
        () => `${key}: a rollout while ${underWay} are under way, at most ${limit} allowed`,
      );
      rollouts.begin(key);
      const facts = fleet().workload(`${after.metadata?.namespace}/${after.metadata?.name}`);
      if (facts !== undefined) options.onRollout(facts, isTurnedBack);
    }
    rollouts.see(key, after);
  };

  caches.of(resources.pods).onChange((before, after) => {
    const uid = after?.metadata?.uid;
    if (after === undefined || uid === undefined) {
      resizes.forget(before?.metadata?.uid ?? '');
      rivals.forget(before?.metadata?.uid ?? '');
      return;
    }
    resizes.seen(after);
    if (before === undefined || before.metadata?.uid !== uid) return;
    if (before.spec?.containers !== after.spec?.containers) {
      const steps = sizeSteps(before.spec?.containers ?? [], after.spec?.containers ?? []);
      if (steps.length > 0 && isByRival(before, after)) rivals.podTaken(after);
      else if (steps.length > 0) {
        counted.resizes++;
        resizes.judge(before, after, steps);
        rivals.resized(after, steps.map(describeStep).join(', '));
      }
    }
    counted.oomKills += newOomKills(before, after);
  });
  for (const type of [resources.deployments, resources.statefulSets] as const) {
    caches.of<Workload>(type).onChange((before, after) => {
      if (before !== undefined && after !== undefined && before.metadata?.uid === after.metadata?.uid)
        onTemplate(type.kind, before, after);
      else if (before !== undefined) forget(`${type.kind} ${before.metadata?.namespace}/${before.metadata?.name}`);
    });
  }

  caches.of(resources.statefulSets).onChange((before, after) => {
    if (before !== undefined && after !== undefined && before.metadata?.uid === after.metadata?.uid)
      apart.onWorkload(before, after);
  });

  return {
    mayEvict(facts) {
      return consent.ofWorkload(facts).some((spec) => {
        const updates = updatesOf(spec);
        return updates['allowRecreate'] === true && updates['evictToResize'] === true;
      });
    },
    beforeEviction: rivals.evicted,
    onOperatorChange: rivals.onOperatorChange,
    rollouts: rollouts.count,
    judgeRest: createInForceJudge({ caches, ledger, consent }),
    tally: () => counted,
  };
}

/** By its status, which may be of the template before. */
function isRollingOut({ metadata, spec, status }: Workload): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0 } = status ?? {};
  const wanted = spec?.replicas ?? 1;
  return observedGeneration < (metadata?.generation ?? 0) || updatedReplicas < wanted || replicas > wanted;
}

/** Whatever changes, is as it was there. */
function isBackAt(origin: readonly Container[], steps: readonly SizeStep[]): boolean {
  return steps.every(({ container, key, to }) => {
    const was = origin.find(({ name }) => name === container.name);
    return was !== undefined && sizeOf(was).get(key) === to;
  });
}

/** Restarts since `before`, of containers whose last end was an OOM kill: a status tells no more of those between. */
export function newOomKills(before: Pod, after: Pod): number {
  const restarts = ({ status }: Pod, container: string): number =>
    status?.containerStatuses?.find(({ name }) => name === container)?.restartCount ?? 0;
  return (after.status?.containerStatuses ?? []).reduce((sum, { name, lastState, restartCount }) => {
    return lastState?.terminated?.reason === 'OOMKilled'
      ? sum + Math.max(0, restartCount - restarts(before, name))
      : sum;
  }, 0);
}
