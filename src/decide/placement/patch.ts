/** The JSON Patch that steers a pod: `add` only, and never to a value the user set. */

import { tolerates } from '../../model/node-fit.ts';
import { termsOf } from '../../model/node-profiles.ts';
import type { SidePin } from '../../model/placement-settings.ts';
import type { NodeSelectorTerm, Toleration } from '../../model/records.ts';
import type { AddOperation } from './admission-decision.ts';
import type { AdmissionPod, RawNodeSelectorTerm } from './admission-pod.ts';
import { type AvoidedPool, preferencesAgainst } from './pool-preference.ts';

export interface PatchContent {
  /** Undefined where the pod's own constraints choose the side. */
  readonly pin: SidePin | undefined;
  readonly tolerations: readonly Toleration[];
  /** Spot pools other than which are preferred. */
  readonly avoid?: readonly AvoidedPool[];
  readonly stamps: Readonly<Record<string, string>>;
}

/**
 * The operations that steer a pod, for the object as it was sent: parents that are missing are added, what users set is
 * kept.
 */
export function buildPatch(pod: AdmissionPod, content: PatchContent): AddOperation[] {
  return [
    ...(content.pin === undefined ? [] : pinOperations(pod, content.pin)),
    ...preferenceOperations(pod, content),
    ...tolerationOperations(pod, content.tolerations),
    ...memberOperations('/metadata/annotations', pod.has.annotations, content.stamps),
  ];
}

/**
 * A key or index as one step of a JSON Pointer (RFC 6901): `~` first, or the slash's own tilde would be escaped again.
 */
export function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

function add(path: string, value: unknown): AddOperation {
  return { op: 'add', path, value };
}

/** Adds members to an object, or the object with them where it does not exist. */
function memberOperations(path: string, exists: boolean, members: Readonly<Record<string, string>>): AddOperation[] {
  if (!exists) return [add(path, members)];
  return Object.entries(members).map(([key, value]) => add(`${path}/${escapePointer(key)}`, value));
}

function pinOperations(pod: AdmissionPod, pin: SidePin): AddOperation[] {
  if (pin.kind === 'nodeSelector') {
    return memberOperations('/spec/nodeSelector', pod.has.nodeSelector, { [pin.key]: pin.value });
  }
  const pinTerms = termsOf(pin).map(rawTerm);
  const nodeSelectorTerms = pod.requiredTerms === undefined ? pinTerms : intersect(pod.requiredTerms, pinTerms);
  const required = { nodeSelectorTerms };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  if (!pod.has.affinity) return [add('/spec/affinity', { nodeAffinity })];
  if (!pod.has.nodeAffinity) return [add('/spec/affinity/nodeAffinity', nodeAffinity)];
  return [add('/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution', required)];
}

/** Preferred, never required: a pool that is avoided is still better than none. The user's own preferences stay. */
function preferenceOperations(pod: AdmissionPod, { pin, avoid }: PatchContent): AddOperation[] {
  const preferences = preferencesAgainst(avoid ?? []);
  if (preferences.length === 0) return [];
  const list = 'preferredDuringSchedulingIgnoredDuringExecution';
  // The pin came first, and made the parents where it is an affinity.
  const isPinned = pin?.kind === 'affinity';
  if (!pod.has.affinity && !isPinned) return [add('/spec/affinity', { nodeAffinity: { [list]: preferences } })];
  if (!pod.has.nodeAffinity && !isPinned) return [add('/spec/affinity/nodeAffinity', { [list]: preferences })];
  const path = `/spec/affinity/nodeAffinity/${list}`;
  return pod.has.preferences === true
    ? preferences.map((preference) => add(`${path}/-`, preference))
    : [add(path, preferences)];
}

/**
 * Terms are ORed, so the pin must hold within each: (A or B) and (p or q) = Ap or Aq or Bp or Bq. An empty term matches
 * nothing and stays empty; with expressions added it would begin to match.
 */
function intersect(
  userTerms: readonly RawNodeSelectorTerm[],
  pinTerms: readonly RawNodeSelectorTerm[],
): RawNodeSelectorTerm[] {
  return userTerms.flatMap((term) => {
    const { matchExpressions, matchFields } = term;
    if ((matchExpressions ?? []).length === 0 && (matchFields ?? []).length === 0) return [term];
    return pinTerms.map((pinTerm) => ({
      ...term,
      matchExpressions: [...(matchExpressions ?? []), ...(pinTerm.matchExpressions ?? [])],
    }));
  });
}

function rawTerm(term: NodeSelectorTerm): RawNodeSelectorTerm {
  return {
    matchExpressions: term.expressions.map(({ key, operator, values }) =>
      operator === 'Exists' || operator === 'DoesNotExist' ? { key, operator } : { key, operator, values: [...values] },
    ),
  };
}

function tolerationOperations(pod: AdmissionPod, tolerations: readonly Toleration[]): AddOperation[] {
  const missing = tolerations.filter((wanted) => !isTolerated(pod.template.tolerations, wanted)).map(rawToleration);
  if (missing.length === 0) return [];
  return pod.has.tolerations
    ? missing.map((toleration) => add('/spec/tolerations/-', toleration))
    : [add('/spec/tolerations', missing)];
}

/** Whether what `wanted` tolerates is tolerated already. */
function isTolerated(existing: readonly Toleration[], wanted: Toleration): boolean {
  return existing.some(
    (toleration) =>
      (wanted.operator === 'Equal' || toleration.operator === 'Exists') &&
      (wanted.effect !== '' || toleration.effect === '') &&
      tolerates(toleration, {
        key: wanted.key,
        value: wanted.value,
        effect: wanted.effect === '' ? 'NoSchedule' : wanted.effect,
      }),
  );
}

function rawToleration({ key, operator, value, effect }: Toleration): Record<string, string> {
  return {
    key,
    operator,
    ...(operator === 'Equal' ? { value } : {}),
    ...(effect === '' ? {} : { effect }),
  };
}
