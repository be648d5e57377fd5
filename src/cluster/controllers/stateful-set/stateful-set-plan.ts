/** What a StatefulSet needs next: pods to create or delete, by ordinal order, policy and revision. Pure. */
import type { Pod, StatefulSet } from '../../../api/core.ts';
import { resolveIntOrPercent } from '../../int-or-percent.ts';
import { nameOf } from '../../objects.ts';
import { isAvailable, isFinished, isReady, isTerminating } from '../../pod-state.ts';

export const REVISION_LABEL = 'controller-revision-hash';

export interface StatefulSetView {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** Names of the ControllerRevisions: of the pods that are not updated yet, and of the present template. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly nowMillis: number;
}

export interface StatefulSetPlan {
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly delete: readonly Pod[];
}

/** The ordinal in a pod's name; undefined when the name is not one of the set's. */
export function ordinalOf(pod: Pod, setName: string): number | undefined {
  const name = nameOf(pod);
  if (!name.startsWith(`${setName}-`)) return undefined;
  const digits = name.slice(setName.length + 1);
  return /^\d+$/.test(digits) ? Number(digits) : undefined;
}

/** Source: pkg/controller/statefulset/stateful_set_control.go `updateStatefulSet` (1.37: maxUnavailable on by default). */
export function planStatefulSet(view: StatefulSetView): StatefulSetPlan {
  const { set } = view;
  const start = set.spec?.ordinals?.start ?? 0;
  const replicas = set.spec?.replicas ?? 1;
  const byOrdinal = new Map<number, Pod>();
  for (const pod of view.pods) {
    const ordinal = ordinalOf(pod, nameOf(set));
    if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
  }
  const wanted = Array.from({ length: replicas }, (_, index) => start + index);
  const condemned = [...byOrdinal.entries()]
    .filter(([ordinal]) => ordinal < start || ordinal >= start + replicas)
    .sort(([left], [right]) => right - left)
    .map(([, pod]) => pod);
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
  return isOrdered ? planOrdered(view, wanted, byOrdinal, condemned) : planParallel(view, wanted, byOrdinal, condemned);
}

/** One step at a time: every pod must be available before the next is touched. */
function planOrdered(
  view: StatefulSetView,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number, Pod>,
  condemned: readonly Pod[],
): StatefulSetPlan {
  const replicas: Pod[] = [];
  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) return { create: [{ ordinal, revision: revisionFor(view, ordinal) }], delete: [] };
    if (isFinished(pod)) return { create: [], delete: isTerminating(pod) ? [] : [pod] };
    if (isUnavailable(view, pod)) return NOTHING;
    replicas.push(pod);
  }
  const [last] = condemned;
  if (last !== undefined) {
    // Only the lowest unavailable condemned pod may go while unavailable, or scaling down would never get past it.
    const firstUnavailable = [...condemned].reverse().find((pod) => isUnavailable(view, pod));
    if (isTerminating(last)) return NOTHING;
    const mayGo = !isUnavailable(view, last) || last === firstUnavailable;
    return { create: [], delete: mayGo ? [last] : [] };
  }
  return { create: [], delete: updates(view, replicas) };
}

function planParallel(
  view: StatefulSetView,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number, Pod>,
  condemned: readonly Pod[],
): StatefulSetPlan {
  const create: { ordinal: number; revision: string }[] = [];
  const doomed: Pod[] = condemned.filter((pod) => !isTerminating(pod));
  const replicas: Pod[] = [];
  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) create.push({ ordinal, revision: revisionFor(view, ordinal) });
    else if (!isFinished(pod)) replicas.push(pod);
    else if (!isTerminating(pod)) doomed.push(pod);
  }
  // Pods just asked for count as unavailable, which the update budget must know.
  const missing = wanted.length - replicas.length;
  return { create, delete: [...doomed, ...updates(view, replicas, missing)] };
}

const NOTHING: StatefulSetPlan = { create: [], delete: [] };

/** Pods below the partition keep the old revision, also when they are made anew. */
function revisionFor(view: StatefulSetView, ordinal: number): string {
  const { spec, status } = view.set;
  const start = spec?.ordinals?.start ?? 0;
  if ((spec?.updateStrategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return view.updateRevision;
  const rolling = spec?.updateStrategy?.rollingUpdate;
  const boundary = rolling === undefined ? (status?.currentReplicas ?? 0) : (rolling.partition ?? 0);
  return ordinal < start + boundary ? view.currentRevision : view.updateRevision;
}

/** Pods to replace by the present template, highest ordinal first, within `maxUnavailable`. */
function updates(view: StatefulSetView, replicas: readonly Pod[], missing = 0): Pod[] {
  const { spec } = view.set;
  if (spec?.updateStrategy?.type === 'OnDelete') return [];
  const rolling = spec?.updateStrategy?.rollingUpdate;
  const start = spec?.ordinals?.start ?? 0;
  const partition = start + (rolling?.partition ?? 0);
  const maxUnavailable = Math.max(
    1,
    resolveIntOrPercent(rolling?.maxUnavailable ?? 1, spec?.replicas ?? 1, 'down') ?? 1,
  );
  const isOutdated = (pod: Pod): boolean =>
    pod.metadata?.labels?.[REVISION_LABEL] !== view.updateRevision && !isTerminating(pod);
  const highestFirst = [...replicas].filter((pod) => (ordinalOf(pod, nameOf(view.set)) ?? 0) >= partition).reverse();
  const unavailable = missing + replicas.filter((pod) => isUnavailable(view, pod)).length;
  if (spec?.podManagementPolicy !== 'Parallel') {
    return highestFirst.filter(isOutdated).slice(0, Math.max(0, maxUnavailable - unavailable));
  }
  // Outdated pods that serve nobody cost no availability, so they do not draw on the budget.
  const broken = highestFirst.filter((pod) => isOutdated(pod) && isUnavailable(view, pod));
  const serving = highestFirst.filter((pod) => isOutdated(pod) && !isUnavailable(view, pod));
  return [...broken, ...serving.slice(0, Math.max(0, maxUnavailable - unavailable))];
}

function isUnavailable({ set, nowMillis }: StatefulSetView, pod: Pod): boolean {
  return isTerminating(pod) || !isReady(pod) || !isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMillis);
}
