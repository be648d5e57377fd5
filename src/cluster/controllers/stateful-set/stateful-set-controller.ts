/** Stand-in of the StatefulSet controller: one pod per ordinal, in order, each with its own claims. */

import type { ControllerRevision, StatefulSet } from '../../../api/core.ts';
import { isAlreadyExists, unless } from '../../../api/kube-error.ts';
import { resources } from '../../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../../kube/queue.ts';
import { byController } from '../../caches.ts';
import { patchesOf } from '../../object-patches.ts';
import { controllerOf, isSameStatus, keyOf, nameOf, namespaceOf, uidOf } from '../../objects.ts';
import { isTerminating } from '../../pod-state.ts';
import type { StandIn, StandInContext } from '../../stand-in.ts';
import { deletePod } from '../delete-pod.ts';
import { createExpectations } from '../expectations.ts';
import { nextAvailability } from '../next-availability.ts';
import { isSameTemplate } from '../pod-template.ts';
import { replaceStatus } from '../replace-status.ts';
import { requeueAt } from '../requeue-at.ts';
import { planStatefulSet, type StatefulSetView } from './stateful-set-plan.ts';
import { claimsOf, newRevision, statefulPod, templateOf } from './stateful-set-pods.ts';
import { statefulSetStatus } from './stateful-set-status.ts';

const WORKERS = 5;
const DEFAULT_HISTORY = 10;

interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number;
}

/** What a pass does is planned in stateful-set-plan.ts; one pod at a time unless the set is Parallel. */
export function createStatefulSetController({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'statefulset-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const expectations = createExpectations(clock);
  const sets = caches.of(resources.statefulSets);
  const revisionsCache = caches.of(resources.controllerRevisions);
  const revisionsOfController = byController(revisionsCache);

  sets.onChange((before, after) => {
    if (after === undefined && before !== undefined) expectations.forget(keyOf(before));
    const set = after ?? before;
    if (set !== undefined) queue.add(keyOf(set));
  });
  caches.of(resources.pods).onChange((before, after) => {
    const pod = after ?? before;
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (pod === undefined || owner?.kind !== 'StatefulSet') return;
    const key = `${namespaceOf(pod)}/${owner.name}`;
    if (before === undefined) expectations.creationObserved(key);
    if (after === undefined || isTerminating(after)) expectations.deletionObserved(key, uidOf(pod));
    queue.add(key);
  });

  /** The revision of the present template, made when there is none, and the one the set is moving away from. */
  const ensureRevisions = async (set: StatefulSet): Promise<Revisions> => {
    const history = [...revisionsOfController(set)].sort((left, right) => left.revision - right.revision);
    let collisionCount = set.status?.collisionCount ?? 0;
    const next = (history.at(-1)?.revision ?? 0) + 1;
    let update = history.findLast((revision) => isSameTemplate(templateOf(revision), set.spec?.template));
    const options = { namespace: namespaceOf(set) };
    if (update === undefined) {
      const create = (): Promise<ControllerRevision> =>
        api.create(resources.controllerRevisions, newRevision(set, next, collisionCount), options);
      update = await unless(isAlreadyExists, create());
      if (update === undefined) {
        collisionCount++;
        update = await create();
      }
    } else if (update !== history.at(-1)) {
      // A rollback: the old revision becomes the newest again.
      update = await patchesOf(api, resources.controllerRevisions).merge(update, { revision: next });
    }
    const current = history.find((revision) => nameOf(revision) === set.status?.currentRevision) ?? update;
    return { current, update, collisionCount };
  };

  const sync = async (key: string): Promise<HandlerResult> => {
    const set = sets.get(key);
    if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return undefined;
    const revisions = await ensureRevisions(set);
    const view = viewOf(set, revisions);
    if (expectations.isSatisfied(key)) await carryOut(set, key, view, revisions);
    await writeStatus(set, revisions);
    await pruneHistory(set, revisions);
    const due = nextAvailability(caches.podsOfController(set), set.spec?.minReadySeconds ?? 0, view.nowMillis);
    return requeueAt(due, clock);
  };

  const viewOf = (set: StatefulSet, revisions: Revisions): StatefulSetView => ({
    set,
    pods: [...caches.podsOfController(set)],
    currentRevision: nameOf(revisions.current),
    updateRevision: nameOf(revisions.update),
    nowMillis: clock.now(),
  });

  const carryOut = async (
    set: StatefulSet,
    key: string,
    view: StatefulSetView,
    revisions: Revisions,
  ): Promise<void> => {
    const plan = planStatefulSet(view);
    if (plan.create.length === 0 && plan.delete.length === 0) return;
    expectations.expect(key, plan.create.length, plan.delete.map(uidOf));
    const results = await Promise.allSettled([
      ...plan.create.map(({ ordinal, revision }) => createPod(set, key, ordinal, revision, revisions)),
      ...plan.delete.map((pod) => deletePod(api, expectations, key, pod)),
    ]);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  };

  const createPod = async (
    set: StatefulSet,
    key: string,
    ordinal: number,
    revision: string,
    revisions: Revisions,
  ): Promise<void> => {
    const options = { namespace: namespaceOf(set) };
    try {
      for (const claim of claimsOf(set, ordinal)) {
        if (caches.of(resources.persistentVolumeClaims).get(keyOf(claim)) !== undefined) continue;
        await unless(isAlreadyExists, api.create(resources.persistentVolumeClaims, claim, options));
      }
      const source = revision === nameOf(revisions.update) ? revisions.update : revisions.current;
      const template = templateOf(source) ?? set.spec?.template;
      await api.create(resources.pods, statefulPod(set, template, ordinal, revision), options);
    } catch (error) {
      expectations.creationObserved(key);
      throw error;
    }
  };

  /** By the latest that is known: the pass may have made and deleted pods since it read the set. */
  const writeStatus = async (set: StatefulSet, revisions: Revisions): Promise<void> => {
    const current = sets.get(keyOf(set));
    if (current === undefined || uidOf(current) !== uidOf(set)) return;
    const status = statefulSetStatus(viewOf(current, revisions), revisions.collisionCount);
    if (isSameStatus(status, current.status)) return;
    await replaceStatus(api, resources.statefulSets, { ...current, status });
  };

  /** Revisions that a pod still has are kept whatever the limit: it may have to be made again. */
  const pruneHistory = async (set: StatefulSet, revisions: Revisions): Promise<void> => {
    const live = new Set([nameOf(revisions.current), nameOf(revisions.update)]);
    for (const pod of caches.podsOfController(set)) live.add(pod.metadata?.labels?.['controller-revision-hash'] ?? '');
    const unused = [...revisionsOfController(set)].filter((revision) => !live.has(nameOf(revision)));
    const excess = unused.length - (set.spec?.revisionHistoryLimit ?? DEFAULT_HISTORY);
    const oldest = unused.sort((left, right) => left.revision - right.revision).slice(0, Math.max(0, excess));
    for (const revision of oldest) {
      await api.delete(resources.controllerRevisions, nameOf(revision), { namespace: namespaceOf(set) });
    }
  };

  return { name, run: (signal) => queue.run(WORKERS, sync, signal) };
}
