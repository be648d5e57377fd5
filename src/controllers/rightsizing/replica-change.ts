/** The bookkeeping of what replicas are given each for itself: what is in force for them, what is watched, what is told. */

import { describeChanges } from '../../decide/rightsizing/due-changes.ts';
import { type Beginning, joinChanges } from '../../decide/rightsizing/side-by-side.ts';
import { watchChange, whileAsked } from '../../decide/rightsizing/watched-change.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import {
  mostOfAll,
  type ReplicaState,
  type ReplicaStates,
  sizesOf,
  withReplicaSizes,
} from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { ReplicaAdvice } from './advise-replicas.ts';
import type { ApplyContext } from './apply.ts';
import type { RightsizingParts } from './parts.ts';
import { changesSince, type ReplicaHarm, watchOf } from './watch-replicas.ts';
import type { OngoingChange } from './watches.ts';

/** What one replica was given at this look. */
export interface Given {
  readonly replica: string;
  readonly changes: readonly SizeChange[];
  readonly before: readonly ContainerSpecRecord[];
  readonly watch: OngoingChange | undefined;
}

export type TellReplicas = Pick<RightsizingParts, 'events' | 'journal' | 'metrics'>;

/** The replica with what it is given now, and what of it is to be watched. */
export function putInForce(
  { replica, pod }: ReplicaAdvice,
  inForce: readonly ContainerSpecRecord[],
  state: ReplicaState,
  { raises, decreases }: Beginning,
  watch: OngoingChange | undefined,
  now: EpochMillis,
): { readonly state: ReplicaState; readonly given: Given } {
  const changes = joinChanges([...raises, ...decreases]);
  const after = applyChanges(inForce, changes);
  const sizes = sizesOf(after);
  const given = { replica, changes, before: inForce };
  const raised = { ...state, sizes, changedAt: now };
  if (watch === undefined || state.before === undefined) {
    if (decreases.length === 0) return { state: raised, given: { ...given, watch: undefined } };
    // A raise is not taken back with what is lowered beside it.
    const before = applyChanges(inForce, raises);
    const fresh = whileAsked(watchOf(watchChange(decreases, before, [pod], now, true), pod, now), pod, changes);
    return { state: { ...raised, before: sizesOf(before) }, given: { ...given, watch: fresh } };
  }
  // What was raised since is no longer watched; all that is lowered is, from the latest decrease on.
  const before = applyChanges(withReplicaSizes(inForce, { sizes: state.before }), raises);
  const left = changesSince(before, inForce, sizes);
  if (left.length === 0) return { state: { ...raised, before: undefined }, given: { ...given, watch: undefined } };
  const isNew = decreases.length > 0;
  const rest = isNew
    ? watchOf(watchChange(left, before, [pod], now, true), pod, now)
    : { ...watch, before, changes: left };
  return { state: { ...raised, before: sizesOf(before) }, given: { ...given, watch: whileAsked(rest, pod, changes) } };
}

/**
 * Sizes while what was given cannot be written: whoever was given less is brought back to what is written, and whoever
 * was given more keeps it.
 */
export function neverLess(
  inForce: readonly ContainerSpecRecord[],
  written: ReplicaStates,
  next: ReplicaStates,
  given: readonly Pick<Given, 'replica'>[],
): ReplicaStates {
  const states = new Map(written);
  for (const { replica } of given) {
    const state = next.get(replica);
    if (state === undefined) continue;
    const had = withReplicaSizes(inForce, written.get(replica));
    states.set(replica, { ...state, sizes: sizesOf(mostOfAll(had, new Map([[replica, state]]))) });
  }
  return states;
}

/** An event for all of them together, and an entry of the journal for each. */
export function tellReplicas(
  options: TellReplicas,
  { advised, policy }: Pick<ApplyContext, 'advised' | 'policy'>,
  given: readonly Given[],
  harms: readonly ReplicaHarm[],
): void {
  const { workload } = advised;
  const [first] = given;
  if (first !== undefined) {
    options.metrics.inc('optipod_applications_total', { policy: policy.name, method: 'InPlace' });
    const more = given.length === 1 ? '' : `; and ${given.length - 1} more replicas`;
    const changes = `replica ${first.replica}: ${describeChanges(first.changes, first.before)}${more}`;
    const message = renderReason('UpdateSuccess', { ...workload, method: 'InPlace', changes });
    // One series: changes of many replicas would use up what may be told of a workload, and harm would not be told.
    options.events.onWorkload(workload, { reason: 'UpdateSuccess', message, isSeries: true });
    for (const { replica, changes: own, before } of given) {
      const text = `replica ${replica}: ${describeChanges(own, before)}`;
      const told = renderReason('UpdateSuccess', { ...workload, method: 'InPlace', changes: text });
      options.journal.record(workloadKey(workload), { kind: 'done', reason: 'UpdateSuccess', message: told });
    }
  }
  for (const { replica, harm } of harms) {
    const message = renderReason('ChangeReverted', { ...workload, cause: `replica ${replica}: ${harm.cause}` });
    options.events.onWorkload(workload, { reason: 'ChangeReverted', message });
    options.journal.record(workloadKey(workload), { kind: 'done', reason: 'ChangeReverted', message });
  }
}
