/** Stand-in of the ReplicaSet controller: keeps the number of pods of each ReplicaSet at `spec.replicas`. */

import type { Pod, ReplicaSet } from '../../api/core.ts';
import { matcherOf, selectorRequirements } from '../../api/label-selector.ts';
import { apiVersionOf, resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import { describeError } from '../../lib/errors.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { byController } from '../caches.ts';
import {
  controllerOf,
  controllerReference,
  isSameStatus,
  isSameValue,
  keyOf,
  matchesSelector,
  nameOf,
  namespaceOf,
  timestampOf,
  uidOf,
} from '../objects.ts';
import { isActive, isAvailable, isReady, isTerminating } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { deletePod } from './delete-pod.ts';
import { choosePodsToDelete } from './deletion-rank.ts';
import { createExpectations } from './expectations.ts';
import { nextAvailability } from './next-availability.ts';
import { changeOwner, ownerChanges } from './pod-claims.ts';
import { podFromTemplate } from './pod-template.ts';
import { replaceStatus } from './replace-status.ts';
import { requeueAt } from './requeue-at.ts';
import { slowStartBatch } from './slow-start.ts';

/** Most pods created or deleted in one pass. Source: pkg/controller/replicaset `BurstReplicas`. */
const BURST_REPLICAS = 500;
const WORKERS = 5;
/** Safety net in case the change of an owner brings no event. */
const OWNER_CHANGE_MILLIS = 1000;

type ReplicaSetStatus = NonNullable<ReplicaSet['status']>;

/** What came of a pass: the failure to report in the status, if any. */
interface ScaleResult {
  readonly failedVerb?: 'FailedCreate' | 'FailedDelete';
  readonly error?: unknown;
}

/** Never creates or deletes on a view in which its last creations and deletions have not been seen (expectations). */
export function createReplicaSetController({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'replicaset-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const expectations = createExpectations(clock);
  const sets = caches.of(resources.replicaSets);
  const setsOfController = byController(sets);

  const pods = caches.of(resources.pods);
  const orphansIn = pods.index((pod) => (controllerOf(pod) === undefined ? namespaceOf(pod) : undefined));

  sets.onChange((before, after) => {
    if (after === undefined && before !== undefined) expectations.forget(keyOf(before));
    const set = after ?? before;
    if (set !== undefined) queue.add(keyOf(set));
  });
  pods.onChange((before, after) => {
    if (after !== undefined && controllerOf(after) === undefined) offerOrphan(before, after);
    const formerKey = setKeyOf(before);
    const key = setKeyOf(after ?? before);
    if (formerKey !== undefined && formerKey !== key) queue.add(formerKey);
    if (key === undefined) return;
    const pod = after ?? before;
    if (before === undefined) expectations.creationObserved(key);
    // A terminating pod is as good as gone: its place is filled at once.
    if (pod !== undefined && (after === undefined || isTerminating(after)))
      expectations.deletionObserved(key, uidOf(pod));
    queue.add(key);
  });

  /** A pod without a controller may be somebody's by its labels. */
  const offerOrphan = (before: Pod | undefined, orphan: Pod): void => {
    if (
      before !== undefined &&
      controllerOf(before) === undefined &&
      isSameValue(before.metadata?.labels, orphan.metadata?.labels)
    )
      return;
    for (const set of sets.inNamespace(namespaceOf(orphan))) {
      if (matchesSelector(set.spec?.selector, orphan.metadata?.labels)) queue.add(keyOf(set));
    }
  };

  const createPods = async (set: ReplicaSet, key: string, count: number): Promise<ScaleResult> => {
    const wanted = Math.min(count, BURST_REPLICAS);
    const owner = controllerReference(set, apiVersionOf(resources.replicaSets), 'ReplicaSet');
    const pod = podFromTemplate(set.spec?.template, namespaceOf(set), nameOf(set), owner);
    expectations.expect(key, wanted, []);
    const { succeeded, error } = await slowStartBatch(wanted, async () => {
      try {
        await api.create(resources.pods, pod, { namespace: namespaceOf(set) });
      } catch (failure) {
        expectations.creationObserved(key);
        throw failure;
      }
    });
    const attempted = attemptedBy(succeeded, wanted, error);
    for (let skipped = attempted; skipped < wanted; skipped++) expectations.creationObserved(key);
    return error === undefined ? {} : { failedVerb: 'FailedCreate', error };
  };

  const deletePods = async (
    set: ReplicaSet,
    key: string,
    active: readonly Pod[],
    count: number,
  ): Promise<ScaleResult> => {
    const doomed = choosePodsToDelete(active, relatedPods(set), Math.min(count, BURST_REPLICAS), clock.now());
    expectations.expect(key, 0, doomed.map(uidOf));
    const results = await Promise.allSettled(doomed.map((pod) => deletePod(api, expectations, key, pod)));
    const failure = results.find((result) => result.status === 'rejected');
    return failure === undefined ? {} : { failedVerb: 'FailedDelete', error: failure.reason };
  };

  /** Pods of all sets with the same owner, for ranking; without an owner just the set's own. */
  const relatedPods = function* (set: ReplicaSet): Iterable<Pod> {
    const owner = controllerOf(set);
    const siblings =
      owner === undefined ? [set] : setsOfController({ metadata: { uid: owner.uid, namespace: namespaceOf(set) } });
    for (const sibling of siblings) yield* caches.podsOfController(sibling);
  };

  const sync = async (key: string): Promise<HandlerResult> => {
    const set = sets.get(key);
    if (set === undefined) return undefined;
    const own = [...caches.podsOfController(set)];
    const changes = ownerChanges(set, own, orphansIn(namespaceOf(set)));
    if (changes.length > 0) {
      for (const change of changes) await changeOwner(api, change);
      // The changed pods come back as events, and the set is looked at again with the right ones.
      return { requeueAfterMillis: OWNER_CHANGE_MILLIS };
    }
    const active = own.filter(isActive);
    const difference = (set.spec?.replicas ?? 1) - active.length;
    let result: ScaleResult = {};
    if (difference !== 0 && set.metadata?.deletionTimestamp === undefined && expectations.isSatisfied(key)) {
      result =
        difference > 0 ? await createPods(set, key, difference) : await deletePods(set, key, active, -difference);
    }
    const nowMillis = clock.now();
    await writeStatus(set, active, result, nowMillis);
    if (result.error !== undefined) throw result.error;
    const due = nextAvailability(active, set.spec?.minReadySeconds ?? 0, nowMillis);
    return requeueAt(due, clock);
  };

  const writeStatus = async (
    set: ReplicaSet,
    active: readonly Pod[],
    result: ScaleResult,
    nowMillis: EpochMillis,
  ): Promise<void> => {
    const status = replicaSetStatus(set, active, nowMillis, result);
    if (isSameStatus(status, set.status)) return;
    const current = sets.get(keyOf(set));
    if (current === undefined || uidOf(current) !== uidOf(set)) return;
    await replaceStatus(api, resources.replicaSets, { ...current, status });
  };

  return { name, run: (signal) => queue.run(WORKERS, sync, signal) };
}

/** How many creations were started before the batches stopped: 1, 2, 4, 8 … up to and with the failing batch. */
function attemptedBy(succeeded: number, wanted: number, error: unknown): number {
  if (error === undefined) return wanted;
  let attempted = 0;
  for (let size = 1; attempted <= succeeded && attempted < wanted; size *= 2)
    attempted = Math.min(wanted, attempted + size);
  return attempted;
}

function setKeyOf(pod: Pod | undefined): string | undefined {
  if (pod === undefined) return undefined;
  const owner = controllerOf(pod);
  return owner?.kind === 'ReplicaSet' ? `${namespaceOf(pod)}/${owner.name}` : undefined;
}

/** Source: pkg/controller/replicaset/replica_set_utils.go `calculateStatus`. */
export function replicaSetStatus(
  set: ReplicaSet,
  active: readonly Pod[],
  nowMillis: number,
  result: ScaleResult = {},
): ReplicaSetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  let labeled = 0;
  let ready = 0;
  let available = 0;
  const hasTemplateLabels = matcherOf(
    selectorRequirements({ matchLabels: set.spec?.template?.metadata?.labels ?? {} }),
  );
  for (const pod of active) {
    if (hasTemplateLabels(pod.metadata?.labels)) labeled++;
    if (!isReady(pod)) continue;
    ready++;
    if (minReadySeconds === 0 || isAvailable(pod, minReadySeconds, nowMillis)) available++;
  }
  const known = set.status?.conditions ?? [];
  const others = known.filter((condition) => condition.type !== 'ReplicaFailure');
  // One that is told already stays as it is: every attempt has another pod's name in its message, and would wake this
  // set.
  const isTold = others.length < known.length;
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: result.failedVerb ?? '',
    message: describeError(result.error),
    lastTransitionTime: timestampOf(nowMillis),
  };
  const conditions = result.failedVerb === undefined ? others : isTold ? known : [...others, failure];
  return {
    replicas: active.length,
    fullyLabeledReplicas: labeled,
    readyReplicas: ready,
    availableReplicas: available,
    observedGeneration: set.metadata?.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}
