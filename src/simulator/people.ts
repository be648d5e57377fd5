/** What people and their tools do to a cluster besides Stowage: drain nodes, delete pods, change objects, make workloads anew. */
import type { Eviction, KubeObject, Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, isInvalid, isNotFound, KubeError, unless } from '../api/kube-error.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import { isFinished, isTerminating } from '../cluster/pod-state.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

export interface PeopleOptions {
  readonly api: KubeApi;
  readonly caches: Caches;
  readonly clock: Clock;
  /** What is under way ends with it, with its reason. */
  readonly signal: AbortSignal;
}

/** As kubectl drain does where a PodDisruptionBudget refuses an eviction. */
const RETRY_MILLIS: Millis = 5000;
const FINALIZER = 'shop.example.com/hold';
const GONE_POLL_MILLIS: Millis = 1000;

/**
 * Cordons a node and evicts its pods through the API, for `forMillis` at most; then lets pods in again. A node that is taken away
 * meanwhile ends it.
 */
export async function drainNode(name: string, forMillis: Millis, options: PeopleOptions): Promise<void> {
  const { api, caches, clock, signal } = options;
  const cordon = (unschedulable: true | null): Promise<unknown> =>
    api.patch(resources.nodes, name, { type: 'merge', body: { spec: { unschedulable } } });
  try {
    await cordon(true);
    const endsAt = clock.now() + forMillis;
    while (clock.now() < endsAt) {
      for (const pod of [...caches.podsOnNode(name)]) if (isDrained(pod)) await evict(pod, api);
      await sleep(clock, Math.min(RETRY_MILLIS, Math.max(1, endsAt - clock.now())), signal);
    }
    await cordon(null);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function isDrained(pod: Pod): boolean {
  const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind !== 'DaemonSet' && !isTerminating(pod) && !isFinished(pod);
}

async function evict(pod: Pod, api: KubeApi): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata ?? {};
  const eviction: Eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    ...(uid === undefined ? {} : { deleteOptions: { preconditions: { uid } } }),
  };
  await unless(isRefused, api.createSubresource(resources.pods, name, 'eviction', eviction, { namespace }));
}

/** 429: a budget is used up; 500: there are two (pkg/registry/core/pod/storage/eviction.go). Else the pod went, or another took its name. */
function isRefused(error: unknown): boolean {
  const isHeld = error instanceof KubeError && (error.httpStatus === 429 || error.httpStatus === 500);
  return isHeld || isNotFound(error) || isConflict(error);
}

/** Deletes a pod as `kubectl delete pod` does. One that is gone already is as good. */
export async function deletePod(pod: Pod, api: KubeApi): Promise<void> {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  await unless(isNotFound, api.delete(resources.pods, name, { namespace }));
}

/** Keeps a pod from going for a time, as a controller that is broken does: with a finalizer. */
export async function holdPod(pod: Pod, forMillis: Millis, { api, clock, signal }: PeopleOptions): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata ?? {};
  // It is going, went, or another took its name.
  const isLate = (error: unknown): boolean => isNotFound(error) || isConflict(error) || isInvalid(error);
  const setFinalizers = async (finalizers: readonly string[]): Promise<void> => {
    const body = { metadata: { uid, finalizers } };
    await unless(isLate, api.patch(resources.pods, name, { type: 'merge', body }, { namespace }));
  };
  await setFinalizers([FINALIZER]);
  await sleep(clock, forMillis, signal);
  await setFinalizers([]);
}

/** Deletes an object with all it owns, waits for the end, and makes it again from what it was: the same name, another uid. */
export async function recreate(
  type: ResourceType,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { api, clock, signal }: PeopleOptions,
): Promise<void> {
  const object = await api.get(type, name, { namespace });
  await api.delete(type, name, { namespace, propagationPolicy: 'Foreground' });
  while ((await unless(isNotFound, api.get(type, name, { namespace }))) !== undefined)
    await sleep(clock, GONE_POLL_MILLIS, signal);
  await api.create(type, asWritten(object), { namespace });
}

/** An object without what the server wrote into it. */
function asWritten(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { name = '', namespace = '', labels = {}, annotations = {} } = metadata ?? {};
  const spec: unknown = Reflect.get(object, 'spec');
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { name, namespace, labels, annotations },
    ...{ spec },
  };
}
