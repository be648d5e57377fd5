/** Holds the sizing engines to their invariants: every change of a pod's or template's size is theirs, and is judged as the watch tells it. */
import type { Deployment, Pod, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isFinished } from '../cluster/pod-state.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { parseQuantity, toBytes, toMillicores } from '../lib/quantity.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { chargeOf, describeStep, mebibytes, qosOf, type SizeStep, sizeOf, sizeSteps } from './container-sizes.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import { type PolicyBook, type Tree, treeAt } from './policy-book.ts';
import { isTakenBack, isUnderWay, underWayText } from './resize-state.ts';
import { createSizeHistory } from './size-history.ts';

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
  /** A workload's template got another size. */
  readonly onRollout: (facts: WorkloadFacts) => void;
}

/** What placement's judge asks of sizes. */
export interface SizeJudge {
  mayEvict(facts: WorkloadFacts): boolean;
  /** Rollouts of new sizes that are under way. */
  rollouts(): number;
  tally(): SizeTally;
}

/** Counted as the watch told them; kills include those of pods nobody sized. */
export interface SizeTally {
  readonly resizes: number;
  readonly retemplates: number;
  readonly oomKills: number;
}

type Workload = Deployment | StatefulSet;

/** In which a scheduler may have placed a pod that nobody was told of yet. */
const JUST_PLACED_MILLIS: Millis = 10_000;

export function createSizeJudge(options: SizeJudgeOptions): SizeJudge {
  const { cluster, config, clock, ledger, policies, fleet } = options;
  const { caches } = cluster;
  const { check } = ledger;
  const history = createSizeHistory(clock);
  const rolling = new Set<string>();
  const boundAt = new Map<string, EpochMillis>();
  const counted = { resizes: 0, retemplates: 0, oomKills: 0 };

  const objectOf = (facts: WorkloadFacts | undefined): Workload | undefined => {
    if (facts === undefined) return undefined;
    return facts.kind === 'Deployment'
      ? caches.of(resources.deployments).get(facts.key)
      : caches.of(resources.statefulSets).get(facts.key);
  };
  const labelsOf = (facts: WorkloadFacts | undefined): Readonly<Record<string, string>> => {
    return objectOf(facts)?.metadata?.labels ?? {};
  };
  const activeFor = (namespace: string, labels: Readonly<Record<string, string>>): readonly Tree[] => {
    const { engines, rightsizing, operator } = config;
    if (!engines.rightsizing || rightsizing.dryRun || operator.readOnlyMode) return [];
    return policies.of(namespace, labels).filter((spec) => spec['mode'] === 'Auto');
  };
  const policiesOfPod = (pod: Pod): readonly Tree[] => {
    const facts = fleet().workloadOfPod(pod.metadata?.uid ?? '');
    return activeFor(pod.metadata?.namespace ?? '', labelsOf(facts));
  };
  const isAllocated = (pod: Pod): boolean => {
    const { engines, allocation, operator } = config;
    if (!engines.allocation || allocation.apply === 'observe' || operator.readOnlyMode) return false;
    const label = pod.metadata?.labels?.['mbcas.io/managed'];
    return label === 'true' || (label !== 'false' && allocation.managementMode === 'optOut');
  };

  const onResize = (before: Pod, after: Pod, steps: readonly SizeStep[]): void => {
    counted.resizes++;
    const name = `${after.metadata?.namespace}/${after.metadata?.name}`;
    const told = steps.map(describeStep).join(', ');
    const isShared = isAllocated(after);
    const active = policiesOfPod(after);
    const forPolicies = isShared ? steps.filter(({ key }) => key.startsWith('memory')) : steps;
    check(
      'oneResize',
      !isUnderWay(before) || isTakenBack(after),
      () => `${name}: ${told}, while ${underWayText(before)}`,
    );
    check('consent', forPolicies.length === 0 || active.length > 0, () => `${name}: ${told}, and nothing allows it`);
    check(
      'qos',
      qosOf(after.spec?.containers ?? []) === before.status?.qosClass,
      () => `${name}: ${told} makes ${before.status?.qosClass} ${qosOf(after.spec?.containers ?? [])}`,
    );
    checkRestarts(name, steps, active);
    for (const step of steps) {
      if (step.key === 'memory limit') checkMemory(after, name, step);
      if (isShared && step.key.startsWith('cpu')) continue;
      checkBounds(after, name, step, active);
      const swings = history.note(`${after.metadata?.uid} ${step.container.name} ${step.key}`, step);
      check(
        'steady',
        swings <= MAX_SWINGS,
        () => `${name} ${step.container.name}: ${describeStep(step)}, ${swings} turns within an hour`,
      );
    }
    if (isShared && steps.some(({ key }) => key.startsWith('cpu'))) {
      const count = history.count(`${after.metadata?.uid}`);
      check('pace', count <= MAX_PER_MINUTE, () => `${name}: ${count} resizes within a minute`);
    }
    for (const resource of ['cpu', 'memory'] as const) checkCapacity(before, after, resource, told);
  };

  const checkMemory = (pod: Pod, name: string, { container, from, to }: SizeStep): void => {
    if (to === undefined || to >= (from ?? Number.POSITIVE_INFINITY)) return;
    const usage = cluster.kubelet
      .usages(pod.spec?.nodeName ?? '')
      .find((each) => each.pod.metadata?.uid === pod.metadata?.uid && each.container.name === container.name);
    const used = usage?.memoryBytes ?? 0;
    check('memory', to >= used, () => `${name} ${container.name}: limit ${mebibytes(to)}, in use ${mebibytes(used)}`);
  };

  const checkRestarts = (name: string, steps: readonly SizeStep[], active: readonly Tree[]): void => {
    const restarted = steps.find(({ container, key }) =>
      container.resizePolicy?.some(
        ({ resourceName, restartPolicy }) => restartPolicy === 'RestartContainer' && key.startsWith(resourceName),
      ),
    );
    const isAllowed = restarted === undefined || active.some((spec) => updatesOf(spec)['allowRecreate'] === true);
    check('restarts', isAllowed, () => `${name}: ${restarted?.key} restarts ${restarted?.container.name}`);
  };

  const checkBounds = (pod: Pod, name: string, step: SizeStep, active: readonly Tree[]): void => {
    const [resource, what] = step.key.split(' ');
    if (what !== 'request' || step.to === undefined || active.length === 0) return;
    // What is given back is what people had written.
    if (originalsOf(pod, step.container.name).some((size) => size.get(step.key) === step.to)) return;
    const amount = step.to;
    const holds = active.some((spec) => isWithin(treeAt(spec, 'resourceBounds', resource ?? ''), resource, amount));
    check('bounds', holds, () => `${name} ${step.container.name}: ${describeStep(step)} is out of bounds`);
  };

  /** What the container asks for by its template; empty where that is gone. */
  const originalsOf = (pod: Pod, container: string): ReadonlyMap<string, number>[] => {
    const object = objectOf(fleet().workloadOfPod(pod.metadata?.uid ?? ''));
    const template = object?.spec?.template.spec?.containers.find(({ name }) => name === container);
    return template === undefined ? [] : [sizeOf(template)];
  };

  const checkCapacity = (before: Pod, after: Pod, resource: 'cpu' | 'memory', told: string): void => {
    const node = after.spec?.nodeName ?? '';
    const growth = chargeOf(after, resource) - chargeOf(before, resource);
    if (growth <= 0 || node === '') return;
    const room = caches.of(resources.nodes).get(node)?.status?.allocatable?.[resource];
    if (room === undefined) return;
    const pods = [...caches.podsOnNode(node)].filter((pod) => !isFinished(pod));
    // A pod that was placed a moment ago may not be known to whoever decided.
    const known = pods.filter(({ metadata }) => {
      const since = clock.now() - (boundAt.get(metadata?.uid ?? '') ?? 0);
      return metadata?.uid === after.metadata?.uid || since > JUST_PLACED_MILLIS;
    });
    const sum = known.reduce(
      (total, pod) => total + chargeOf(pod.metadata?.uid === after.metadata?.uid ? after : pod, resource),
      0,
    );
    const capacity = amountOf(resource, room);
    check(
      'capacity',
      sum <= capacity,
      () => `${node}: ${resource} ${sum} of ${capacity} by ${after.metadata?.name}: ${told}`,
    );
  };

  const onTemplate = (kind: string, before: Workload, after: Workload): void => {
    const [old, now] = [before.spec?.template.spec?.containers ?? [], after.spec?.template.spec?.containers ?? []];
    const steps = sizeSteps(old, now);
    const key = `${kind} ${after.metadata?.namespace}/${after.metadata?.name}`;
    if (steps.length > 0) {
      counted.retemplates++;
      const told = steps.map(describeStep).join(', ');
      const active = activeFor(after.metadata?.namespace ?? '', after.metadata?.labels ?? {});
      check('consent', active.length > 0, () => `${key}: ${told}, and nothing allows it`);
      check(
        'restarts',
        active.some((spec) => updatesOf(spec)['allowRecreate'] === true),
        () => `${key}: ${told}`,
      );
      check('qos', qosOf(old) === qosOf(now), () => `${key}: ${told} makes ${qosOf(old)} ${qosOf(now)}`);
      for (const step of steps) {
        const swings = history.note(`${key} ${step.container.name} ${step.key}`, step);
        check(
          'steady',
          swings <= MAX_SWINGS,
          () => `${key} ${step.container.name}: ${describeStep(step)}, ${swings} turns within an hour`,
        );
      }
      const underWay = rolling.size + options.evictions();
      const limit = config.placement.maxConcurrentEvictions;
      check(
        'concurrency',
        underWay < limit,
        () => `${key}: a rollout while ${underWay} are under way, at most ${limit} allowed`,
      );
      rolling.add(key);
      const facts = fleet().workload(`${after.metadata?.namespace}/${after.metadata?.name}`);
      if (facts !== undefined) options.onRollout(facts);
    }
    if (rolling.has(key) && isRolledOut(after)) rolling.delete(key);
  };

  caches.of(resources.pods).onChange((before, after) => {
    const uid = after?.metadata?.uid;
    if (after === undefined || uid === undefined) {
      boundAt.delete(before?.metadata?.uid ?? '');
      return;
    }
    if (after.spec?.nodeName !== undefined && !boundAt.has(uid)) boundAt.set(uid, clock.now());
    if (before === undefined || before.metadata?.uid !== uid) return;
    if (before.spec?.containers !== after.spec?.containers) {
      const steps = sizeSteps(before.spec?.containers ?? [], after.spec?.containers ?? []);
      if (steps.length > 0) onResize(before, after, steps);
    }
    counted.oomKills += newOomKills(before, after);
  });
  for (const type of [resources.deployments, resources.statefulSets] as const) {
    caches.of<Workload>(type).onChange((before, after) => {
      if (before !== undefined && after !== undefined && before.metadata?.uid === after.metadata?.uid)
        onTemplate(type.kind, before, after);
      else if (before !== undefined)
        rolling.delete(`${type.kind} ${before.metadata?.namespace}/${before.metadata?.name}`);
    });
  }

  return {
    mayEvict(facts) {
      const [namespace = ''] = facts.key.split('/');
      return activeFor(namespace, labelsOf(facts)).some(({ updateStrategy }) => {
        const updates = updatesOf({ updateStrategy });
        return updates['allowRecreate'] === true && updates['evictToResize'] === true;
      });
    },
    rollouts: () => rolling.size,
    tally: () => counted,
  };
}

/** Turns of direction within an hour: up, down and up again are two. */
const MAX_SWINGS = 6;
/** Six by the agent's default, and what cannot wait. */
const MAX_PER_MINUTE = 14;

function updatesOf(spec: Tree): Tree {
  return treeAt(spec, 'updateStrategy');
}

function isRolledOut({ metadata, spec, status }: Workload): boolean {
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  const wanted = spec?.replicas ?? 1;
  return (status?.updatedReplicas ?? 0) >= wanted && (status?.replicas ?? 0) <= wanted;
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

function isWithin({ min, max }: Tree, resource: string | undefined, amount: number): boolean {
  const isAtLeast = typeof min !== 'string' || amount >= amountOf(resource, min);
  return isAtLeast && (typeof max !== 'string' || amount <= amountOf(resource, max));
}

function amountOf(resource: string | undefined, text: string): number {
  const quantity = parseQuantity(text);
  return resource === 'cpu' ? toMillicores(quantity) : toBytes(quantity);
}
