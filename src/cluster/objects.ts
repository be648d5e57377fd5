/** Reading the common parts of API objects, where the published types leave every field optional. */
import type { KubeObject, LabelSelector, ObjectMeta } from '../api/core.ts';
import { matcherOf, selectorRequirements } from '../api/label-selector.ts';
import { ownMember } from '../lib/own-member.ts';

const NO_META: ObjectMeta = {};

export function metaOf(object: KubeObject): ObjectMeta {
  return object.metadata ?? NO_META;
}

export function nameOf(object: KubeObject): string {
  return object.metadata?.name ?? '';
}

export function namespaceOf(object: KubeObject): string {
  return object.metadata?.namespace ?? '';
}

export function uidOf(object: KubeObject): string {
  return object.metadata?.uid ?? '';
}

/** `namespace/name`, or `name` alone for objects without a namespace: the key controllers queue. */
export function keyOf(object: KubeObject): string {
  const namespace = object.metadata?.namespace;
  return namespace === undefined || namespace === '' ? nameOf(object) : `${namespace}/${nameOf(object)}`;
}

export type OwnerReference = NonNullable<ObjectMeta['ownerReferences']>[number];

/** The owner reference with `controller: true`; an object has at most one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  const owners = object.metadata?.ownerReferences;
  if (owners !== undefined) for (const owner of owners) if (owner.controller === true) return owner;
  return undefined;
}

/** The owner reference that makes `owner` the managing controller of a new object. */
export function controllerReference(owner: KubeObject, apiVersion: string, kind: string): OwnerReference {
  return { apiVersion, kind, name: nameOf(owner), uid: uidOf(owner), controller: true, blockOwnerDeletion: true };
}

/** Milliseconds since the epoch of an API timestamp; undefined when absent or unreadable. */
export function timeOf(timestamp: string | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  const millis = Date.parse(timestamp);
  return Number.isNaN(millis) ? undefined : millis;
}

/** An API timestamp (`metav1.Time`): whole seconds, UTC. */
export function timestampOf(epochMillis: number): string {
  return `${new Date(epochMillis).toISOString().slice(0, 19)}Z`;
}

export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

/** A selector to ask about many objects. An absent one matches nothing, an empty one everything. */
export function selectorMatcher(selector: LabelSelector | undefined): LabelMatcher {
  return selector === undefined ? () => false : matcherOf(selectorRequirements(selector));
}

/** {@link selectorMatcher} for a single question. */
export function matchesSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selectorMatcher(selector)(labels);
}

/** Whether two API values are the same, whatever the order of their keys; absent and `undefined` are the same. */
export function isSameValue(left: unknown, right: unknown): boolean {
  return isSame(left, right, itself);
}

/** Whether two statuses say the same: the API server keeps no zero that Go's `omitempty` leaves out. */
export function isSameStatus(left: unknown, right: unknown): boolean {
  return isSame(left, right, unlessZero);
}

const itself = (value: unknown): unknown => value;
const unlessZero = (value: unknown): unknown => (value === 0 ? undefined : value);

/** @param kept what counts of a member; undefined: as if it were absent. */
function isSame(left: unknown, right: unknown, kept: (member: unknown) => unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSame(item, right[index], kept));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  for (const key in left) if (!isSame(kept(left[key]), kept(ownMember(right, key)), kept)) return false;
  for (const key in right) if (kept(right[key]) !== undefined && kept(ownMember(left, key)) === undefined) return false;
  return true;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A condition as most kinds carry it. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** A type occurs once in a list of conditions. */
export function findCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  if (conditions !== undefined) for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

/**
 * The conditions with `next` in place of the one of its type. `lastTransitionTime` moves only when the status changes,
 * and nothing changes at all when status, reason and message stay.
 */
export function withCondition<C extends Condition>(conditions: readonly C[] | undefined, next: C): C[] {
  const current = conditions ?? [];
  const previous = findCondition(current, next.type);
  if (previous === undefined) return [...current, next];
  const { lastTransitionTime } = previous;
  const kept =
    previous.status === next.status && lastTransitionTime !== undefined ? { ...next, lastTransitionTime } : next;
  return current.map((condition) => (condition.type === next.type ? kept : condition));
}
