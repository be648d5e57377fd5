/** Holds each resize of a running pod to the invariants of sizing. */
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isFinished } from '../cluster/pod-state.ts';
import type { Clock } from '../lib/clock.ts';
import { parseQuantity, toBytes, toMillicores } from '../lib/quantity.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { chargeOf, describeStep, mebibytes, qosOf, type SizeStep, sizeParts } from './container-sizes.ts';
import type { Ledger } from './ledger.ts';
import { mostRoundedUp } from './meddlers.ts';
import { type Tree, treeAt } from './policy-book.ts';
import { isTakenBack, isUnderWay, underWayText } from './resize-state.ts';
import { type SizeConsent, updatesOf } from './size-consent.ts';
import { checkSteady, type SizeHistory } from './size-history.ts';

export interface ResizeJudgeOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly consent: SizeConsent;
  readonly history: SizeHistory;
}

export interface ResizeJudge {
  /** The watch told of a pod: when it was first seen with a node counts. */
  seen(pod: Pod): void;
  forget(podUid: string): void;
  /** Judges what the watch told of as one change, which has at least one step. */
  judge(before: Pod, after: Pod, steps: readonly SizeStep[]): void;
}

/** In which a scheduler may have placed a pod that nobody was told of yet. */
const JUST_PLACED_MILLIS: Millis = 10_000;
/** Six by the agent's default, and what cannot wait. */
const MAX_PER_MINUTE = 14;

export function createResizeJudge({ cluster, clock, ledger, consent, history }: ResizeJudgeOptions): ResizeJudge {
  const { caches } = cluster;
  const { check } = ledger;
  const boundAt = new Map<string, EpochMillis>();

  const judge = (before: Pod, after: Pod, steps: readonly SizeStep[]): void => {
    const name = `${after.metadata?.namespace}/${after.metadata?.name}`;
    const told = steps.map(describeStep).join(', ');
    const isShared = consent.isAllocated(after);
    const active = consent.ofPod(after);
    const forPolicies = isShared ? steps.filter(({ key }) => sizeParts[key].resource === 'memory') : steps;
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
      if (isShared && sizeParts[step.key].resource === 'cpu') continue;
      checkBounds(after, name, step, active);
      checkSteady(ledger, history, { uid: after.metadata?.uid ?? '', name, step });
    }
    if (isShared && steps.some(({ key }) => sizeParts[key].resource === 'cpu')) {
      const count = history.count(after.metadata?.uid ?? '');
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
        ({ resourceName, restartPolicy }) =>
          restartPolicy === 'RestartContainer' && sizeParts[key].resource === resourceName,
      ),
    );
    const isAllowed = restarted === undefined || active.some((spec) => updatesOf(spec)['allowRecreate'] === true);
    check('restarts', isAllowed, () => `${name}: ${restarted?.key} restarts ${restarted?.container.name}`);
  };

  const checkBounds = (pod: Pod, name: string, step: SizeStep, active: readonly Tree[]): void => {
    const { resource, what } = sizeParts[step.key];
    if (what !== 'request' || step.to === undefined || active.length === 0) return;
    // What is given back is what people had written.
    if (consent.templateSize(pod, step.container.name)?.get(step.key) === step.to) return;
    const amount = step.to;
    const holds = active.some((spec) => isWithin(treeAt(spec, 'resourceBounds', resource), resource, amount));
    check('bounds', holds, () => `${name} ${step.container.name}: ${describeStep(step)} is out of bounds`);
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
    const capacity = amountOf(resource, room) + (resource === 'cpu' ? mostRoundedUp(cluster, after) : 0);
    check(
      'capacity',
      sum <= capacity,
      () => `${node}: ${resource} ${sum} of ${capacity} by ${after.metadata?.name}: ${told}`,
    );
  };

  return {
    seen({ metadata, spec }) {
      const uid = metadata?.uid ?? '';
      if (spec?.nodeName !== undefined && !boundAt.has(uid)) boundAt.set(uid, clock.now());
    },
    forget(podUid) {
      boundAt.delete(podUid);
      history.forget(podUid);
    },
    judge,
  };
}

function isWithin({ min, max }: Tree, resource: string | undefined, amount: number): boolean {
  const isAtLeast = typeof min !== 'string' || amount >= amountOf(resource, min);
  return isAtLeast && (typeof max !== 'string' || amount <= amountOf(resource, max));
}

function amountOf(resource: string | undefined, text: string): number {
  const quantity = parseQuantity(text);
  return resource === 'cpu' ? toMillicores(quantity) : toBytes(quantity);
}
