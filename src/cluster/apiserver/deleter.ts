/**
 * Deletion: preconditions, grace periods of pods, finalizers and propagation policies.
 * Source: apiserver pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go; kubernetes pkg/registry/core/pod/strategy.go.
 */
import type { Clock } from '../../lib/clock.ts';
import { numberAt, objectAt, stringAt, stringsAt } from './json.ts';
import { toTime } from './names.ts';
import { checkNamespaceDeletable } from './namespace-lifecycle.ts';
import { type Reader, storageKey } from './reader.ts';
import type { Admission, WriteContext } from './request.ts';
import { checkPriorityClassDeletable } from './rules/priority-class.ts';
import { type ApiObject, fromStored, type Metadata, type ServedType } from './served-type.ts';
import { conflict, internalError } from './status-error.ts';
import type { Storage } from './storage.ts';

/** `metav1.DeleteOptions`. Undefined: the pod's own grace period, no precondition, the finalizers as they are. */
export interface DeletionOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: string | undefined;
}

/** What a deletion has come to when it is answered. */
export interface Deletion {
  /** The object as last stored, or as it waits for its finalizers, kubelet or grace period. */
  readonly object: ApiObject;
  /** False while something still has to happen before the object is gone. */
  readonly gone: boolean;
}

/** Rejects with 404, with 403 for what must always be there, with 409 where a precondition does not hold. */
export interface Deleter {
  delete(
    type: ServedType,
    namespace: string | undefined,
    name: string,
    options: DeletionOptions,
    context: WriteContext,
  ): Promise<Deletion>;
}

export interface DeleterOptions {
  readonly storage: Storage;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly mutate: Admission;
  readonly validate: Admission;
}

/** Writers in between are met by trying again; the bound only keeps a fault of ours from looping for ever. */
const MAX_ATTEMPTS = 100;
/** Source: apimachinery pkg/apis/meta/v1/types.go `FinalizerDeleteDependents`, `FinalizerOrphanDependents`. */
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

/**
 * Deletions by API call. What finishes one (kubelet, garbage collector, namespace controller) comes back as another
 * deletion or as an update without finalizers.
 */
export function createDeleter({ storage, reader, clock, mutate, validate }: DeleterOptions): Deleter {
  return {
    async delete(type, namespace, name, given, context) {
      checkNamespaceDeletable(type, name);
      if (type.storage === 'scheduling.k8s.io/priorityclasses') checkPriorityClassDeletable(name);
      const first = reader.get(type, namespace, name);
      const options = type.storage === 'batch/jobs' ? jobOptions(given, first, context) : given;
      const attributes = {
        operation: 'DELETE',
        type,
        subresource: '',
        namespace,
        name,
        object: undefined,
        oldObject: first,
        context,
      } as const;
      const mutating = mutate(attributes);
      if (mutating !== undefined) await mutating;
      const validating = validate(attributes);
      if (validating !== undefined) await validating;

      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const shown = reader.get(type, namespace, name);
        const current = storage.collection(type).get(storageKey(type, namespace, name));
        if (current === undefined) continue;
        checkDeletePreconditions(type, shown, options);
        const metadata = deletionMetadata(type, current, options, clock.now());
        if (metadata === undefined) {
          const last = type.storage === '/pods' ? lastPodState(current, clock.now()) : current;
          if (context.dryRun) return { object: last === current ? shown : last, gone: true };
          const removed = storage.remove(type, current, last);
          if (removed !== undefined) return { object: fromStored(type, removed), gone: true };
          continue;
        }
        if (metadata === current.metadata || context.dryRun) return { object: shown, gone: false };
        const terminating =
          type.storage === '/namespaces' ? { status: { ...objectAt(current, 'status'), phase: 'Terminating' } } : {};
        const waiting = storage.put(type, current, { ...current, ...terminating, metadata });
        if (waiting !== undefined) return { object: waiting, gone: false };
      }
      throw internalError(
        `${type.plural} ${JSON.stringify(name)}: gave up deleting after ${MAX_ATTEMPTS} conflicting writes`,
      );
    },
  };
}

const PODS_STAY =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

/** Who deletes a Job and does not say what becomes of its pods keeps them. Source: kubernetes pkg/registry/batch/job. */
function jobOptions(options: DeletionOptions, { metadata }: ApiObject, { warnings }: WriteContext): DeletionOptions {
  if (options.propagationPolicy !== undefined) return options;
  warnings.push(PODS_STAY);
  const isSaid = metadata.finalizers?.some((name) => name === FOREGROUND || name === ORPHAN) === true;
  return isSaid ? options : { ...options, propagationPolicy: 'Orphan' };
}

/** Pods are marked as deleted even when they go at once. */
function lastPodState(pod: ApiObject, nowMillis: number): ApiObject {
  const { deletionTimestamp, generation } = pod.metadata;
  const isFirst = deletionTimestamp === undefined;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionTimestamp: deletionTimestamp ?? toTime(nowMillis),
      deletionGracePeriodSeconds: 0,
      ...(isFirst && generation !== undefined && { generation: generation + 1 }),
    },
  };
}

/** @throws a conflict when the object is not the one, or not the version, that was meant. */
export function checkDeletePreconditions(
  type: ServedType,
  { metadata }: ApiObject,
  { uid, resourceVersion }: DeletionOptions,
): void {
  // The real server names the kind, not the resource, in these two answers.
  const named = { group: type.group, plural: type.kind };
  const name = metadata.name ?? '';
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** The metadata of an object that has to wait, the same metadata when nothing changes, or undefined: remove it now. */
function deletionMetadata(
  type: ServedType,
  current: ApiObject,
  options: DeletionOptions,
  nowMillis: number,
): Metadata | undefined {
  const { metadata } = current;
  const finalizers = finalizersFor(metadata, options.propagationPolicy);
  const held =
    finalizers.length > 0 || (type.storage === '/namespaces' && stringsAt(current, 'spec', 'finalizers').length > 0);
  const graceSeconds = type.storage === '/pods' ? podGraceSeconds(current, options) : 0;
  if (metadata.deletionTimestamp !== undefined) {
    const pending = metadata.deletionGracePeriodSeconds ?? 0;
    if (type.storage === '/pods' && pending > 0) {
      // Only a shorter grace period may follow the first one.
      const asked = options.gracePeriodSeconds;
      if (asked === undefined || asked >= pending) return metadata;
      if (Math.max(0, asked) === 0 && !held) return undefined;
      const moved = Date.parse(metadata.deletionTimestamp) - pending * 1_000 + asked * 1_000;
      const seconds = moved < nowMillis && asked !== 0 ? 1 : asked;
      return {
        ...metadata,
        finalizers,
        deletionTimestamp: toTime(Math.max(moved, nowMillis)),
        deletionGracePeriodSeconds: seconds,
      };
    }
    return held ? metadata : undefined;
  }
  if (!held && graceSeconds === 0) return undefined;
  const { generation } = metadata;
  return {
    ...metadata,
    ...(finalizers.length === 0 ? {} : { finalizers }),
    deletionTimestamp: toTime(nowMillis + graceSeconds * 1_000),
    deletionGracePeriodSeconds: graceSeconds,
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  };
}

/** Owners are held by a finalizer while the collector deletes or orphans their dependents. */
function finalizersFor(metadata: Metadata, policy: string | undefined): string[] {
  const present = metadata.finalizers ?? [];
  if (policy === undefined || policy === '') return present;
  const kept = present.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  if (policy === 'Foreground') return [...kept, FOREGROUND];
  return policy === 'Orphan' ? [...kept, ORPHAN] : kept;
}

/** Pods nobody runs, or that have ended, need no grace. */
function podGraceSeconds(pod: ApiObject, { gracePeriodSeconds }: DeletionOptions): number {
  if (!stringAt(pod, 'spec', 'nodeName')) return 0;
  const phase = stringAt(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = gracePeriodSeconds ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30;
  return seconds < 0 ? 1 : seconds;
}
