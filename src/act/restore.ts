/** Gives pods and templates back: the sizes from before Stowage, the fields it owned, and the annotation that kept them. Idempotent. */
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { KubeObject, ObjectMeta } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict } from '../api/kube-error.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { PodRef } from '../decide/decision.ts';
import type { SizingEngine } from '../decide/size-decision.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import { parseOriginals, type ResourcesBody, resourcesBody } from '../model/original-sizes.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import { outcomeOfResizeError, type ResizeFailure } from './resize-outcome.ts';
import { templateTypes } from './retemplate.ts';

export type RestoreOutcome = { readonly result: 'restored' | 'unchanged' } | ResizeFailure;

/** Call when a restoring resize is done: the pod is nobody's business any more. Never rejects. */
export type ForgetOriginals = (pod: PodRef, engine: SizingEngine, signal: AbortSignal) => Promise<RestoreOutcome>;

export function createForgetOriginals(api: KubeApi): ForgetOriginals {
  return async ({ namespace, name, uid }, engine, signal) => {
    const key = engine === 'allocation' ? sizingKeys.allocationOriginals : sizingKeys.originalResources;
    const body = { metadata: { uid, annotations: { [key]: null } } };
    const options = { namespace, signal, fieldManager: sizeManagers[engine], lane: 'control' } as const;
    return await settled(async () => {
      await api.patch(resources.pods, name, { type: 'merge', body }, options);
      return { result: 'restored' };
    });
  };
}

export interface HandBackRequest {
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  /** Also put the sizes back, which rolls the workload out once; else they stay as they are. */
  readonly restoreSizes: boolean;
}

/** Gives a template back. Never rejects. */
export type HandBack = (request: HandBackRequest, known: SizedWorkload, signal: AbortSignal) => Promise<RestoreOutcome>;

/**
 * An apply that says nothing would give up the fields, and where nobody else owns them the API server would remove the requests
 * with it. So the values stay, or are put back, and only the ownership is taken out of managedFields.
 */
export function createHandBack(api: KubeApi): HandBack {
  return async ({ workload, workloadUid, restoreSizes }, known, signal) => {
    const type = templateTypes[workload.kind];
    if (type === undefined) return { result: 'unchanged' };
    const { namespace, name } = workload;
    const options = { namespace, signal, fieldManager: sizeManagers.rightsizing, lane: 'control' } as const;
    const once = async (): Promise<RestoreOutcome> => {
      const object = await api.get<KubeObject>(type, name, options);
      if (object.metadata?.uid !== workloadUid) return { result: 'gone' };
      const text = object.metadata.annotations?.[sizingKeys.originalResources];
      const restored =
        restoreSizes && text !== undefined ? await putBack(api, type, object, text, known, options) : object;
      return await disown(api, type, restored, options);
    };
    return await settled(async () => {
      // The controller of the workload writes its status meanwhile, often so during the rollout that restoring begins.
      for (let tries = 1; ; tries++) {
        try {
          return await once();
        } catch (error) {
          if (!isConflict(error) || tries >= MAX_TRIES) throw error;
        }
      }
    });
  };
}

const MAX_TRIES = 5;

type Options = { readonly namespace: string; readonly signal: AbortSignal; readonly fieldManager: string };

async function putBack(
  api: KubeApi,
  type: ResourceType,
  { metadata = {} }: KubeObject,
  text: string,
  known: SizedWorkload,
  options: Options,
): Promise<KubeObject> {
  const originals = parseOriginals(text);
  const listOf = (isSidecar: boolean) =>
    known.containers
      .filter((container) => container.isSidecar === isSidecar)
      .flatMap(({ name: container, size }) => {
        const original = originals?.get(container);
        return original === undefined
          ? []
          : [{ name: container, resources: withRemovals(resourcesBody(original), resourcesBody(size)) }];
      });
  const spec = { template: { spec: { containers: listOf(false), initContainers: listOf(true) } } };
  // The uid makes the patch conditional: a workload created anew under the same name has sizes of its own.
  const body = { metadata: { uid: metadata.uid }, spec };
  return await api.patch<KubeObject>(type, metadata.name ?? '', { type: 'strategic', body }, options);
}

/** Amounts that are there now and were not before: null removes them, which a template allows. */
function withRemovals(original: ResourcesBody, now: ResourcesBody): object {
  const part = (key: 'requests' | 'limits'): object => {
    const amounts: Record<string, string | null> = {};
    for (const resource of Object.keys(now[key] ?? {})) amounts[resource] = null;
    const all = { ...amounts, ...original[key] };
    return Object.keys(all).length === 0 ? {} : { [key]: all };
  };
  return { ...part('requests'), ...part('limits') };
}

/** Takes our entries out of managedFields, and our annotation away, unless the object has changed meanwhile. */
async function disown(api: KubeApi, type: ResourceType, object: KubeObject, options: Options): Promise<RestoreOutcome> {
  const { metadata = {} } = object;
  const { managedFields = [] } = metadata;
  const kept = managedFields.filter((entry) => !isOurs(entry));
  const isKept = metadata.annotations?.[sizingKeys.originalResources] !== undefined;
  if (kept.length === managedFields.length && !isKept) return { result: 'unchanged' };
  const body = {
    metadata: {
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      // An empty list would reset everything; one empty entry is how "nobody" is said.
      managedFields: kept.length === 0 ? [{}] : kept,
      annotations: { [sizingKeys.originalResources]: null },
    },
  };
  await api.patch(type, metadata.name ?? '', { type: 'merge', body }, options);
  return { result: 'restored' };
}

function isOurs({ manager }: NonNullable<ObjectMeta['managedFields']>[number]): boolean {
  return manager === sizeManagers.rightsizing;
}

async function settled(work: () => Promise<RestoreOutcome>): Promise<RestoreOutcome> {
  try {
    return await work();
  } catch (error) {
    return outcomeOfResizeError(error);
  }
}
