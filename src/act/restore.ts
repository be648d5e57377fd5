/**
 * Gives pods and templates back, without a change of size: the fields we owned, and the annotation that kept what was
 * there. Idempotent.
 */
import { originalsKeys, sizingKeys } from '../api/annotations-sizing.ts';
import type { KubeObject, ObjectMeta } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict } from '../api/kube-error.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { PodRef } from '../decide/decision.ts';
import type { SizingEngine } from '../decide/size-decision.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import { sizeManagers } from '../model/size-managers.ts';
import { outcomeOfResizeError, type ResizeFailure } from './resize-outcome.ts';
import { templateTypes } from './retemplate.ts';

export type RestoreOutcome = { readonly result: 'restored' | 'unchanged' } | ResizeFailure;

/** Call when a restoring resize is done: the pod is nobody's business any more. Never rejects. */
export type ForgetOriginals = (pod: PodRef, engine: SizingEngine, signal: AbortSignal) => Promise<RestoreOutcome>;

export function createForgetOriginals(api: KubeApi): ForgetOriginals {
  return async ({ namespace, name, uid }, engine, signal) => {
    const body = { metadata: { uid, annotations: { [originalsKeys[engine]]: null } } };
    const options = { namespace, signal, fieldManager: sizeManagers[engine], lane: 'control' } as const;
    return await settled(async () => {
      await api.patch(resources.pods, name, { type: 'merge', body }, options);
      return { result: 'restored' };
    });
  };
}

/**
 * Gives a template back: nothing in it is ours any more, and its values stay, as putting them back would be a rollout
 * that nobody asked for. `unchanged`: nothing was ours. Never rejects.
 */
export type HandBackTemplate = (
  workload: WorkloadRef & { readonly uid: string },
  signal: AbortSignal,
) => Promise<RestoreOutcome>;

/**
 * An apply that says nothing would give up the fields, and where nobody else owns them the API server would remove the
 * requests with it. So only the ownership is taken out of managedFields.
 */
export function createHandBackTemplate(api: KubeApi): HandBackTemplate {
  return async ({ kind, namespace, name, uid }, signal) => {
    const type = templateTypes[kind];
    if (type === undefined) return { result: 'unchanged' };
    const options = { namespace, signal, fieldManager: sizeManagers.rightsizing, lane: 'control' } as const;
    const once = async (): Promise<RestoreOutcome> => {
      const object = await api.get<KubeObject>(type, name, options);
      if (object.metadata?.uid !== uid) return { result: 'gone' };
      return await disown(api, type, object, options);
    };
    return await settled(async () => {
      // The controller of the workload writes its status meanwhile, often so during a rollout.
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
