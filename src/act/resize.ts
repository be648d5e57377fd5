/**
 * Changes the size of one running pod in place, for an approved decision: one patch to `pods/resize` with all
 * containers.
 */

import { originalsKeys } from '../api/annotations-sizing.ts';
import type { Pod } from '../api/core.ts';
import type { KubeApi, Patch } from '../api/kube-api.ts';
import { isConflict } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import type { Approved } from '../guard/approved.ts';
import { originalsText, parseOriginals } from '../model/original-sizes.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { outcomeOfResizeError, type ResizeOutcome } from './resize-outcome.ts';
import { containersBody } from './size-body.ts';

/**
 * `accepted` means that the spec is changed; whether the node grants it shows later in conditions and actual sizes,
 * which whoever asked must follow. Never rejects: every answer, a broken connection included, is an outcome.
 */
export type Resize = (approved: Approved<ResizeDecision>, signal: AbortSignal) => Promise<ResizeOutcome>;

export interface ResizeOptions {
  readonly api: KubeApi;
  /** The pod as it is known: which containers are sidecars, and whether its original sizes are kept. */
  readonly pod: (namespace: string, name: string) => SizedPod | undefined;
}

export function createResize({ api, pod: find }: ResizeOptions): Resize {
  return async ({ decision }, signal) => {
    const { namespace, name, uid } = decision.pod;
    const known = find(namespace, name);
    if (known?.pod.uid !== uid) return { result: 'gone' };
    try {
      await keepOriginals(api, known, decision, signal);
      const resized = await sendTwice(api, known, decision, signal);
      return { result: 'accepted', generation: resized.metadata?.generation };
    } catch (error) {
      return outcomeOfResizeError(error);
    }
  };
}

/** A conflict without a precondition of ours is a race inside the API server: the same patch is right once more. */
async function sendTwice(api: KubeApi, known: SizedPod, decision: ResizeDecision, signal: AbortSignal): Promise<Pod> {
  try {
    return await send(api, known, decision, signal);
  } catch (error) {
    if (!isConflict(error)) throw error;
    return await send(api, known, decision, signal);
  }
}

function send(
  api: KubeApi,
  { sizing }: SizedPod,
  { pod, engine, changes }: ResizeDecision,
  signal: AbortSignal,
): Promise<Pod> {
  const patch: Patch = {
    type: 'strategic',
    // A StatefulSet's next pod of this name has another uid, and is left alone.
    body: { metadata: { uid: pod.uid }, spec: containersBody(sizing.containers, changes) },
  };
  return api.patch(resources.pods, pod.name, patch, {
    signal,
    namespace: pod.namespace,
    subresource: 'resize',
    fieldManager: sizeManagers[engine],
    lane: 'control',
  });
}

/**
 * `pods/resize` leaves metadata as it is, so what the pod had is written before its first change. The resourceVersion
 * makes sure that it is what the pod has now: where the record is older, the pod is read once.
 */
async function keepOriginals(
  api: KubeApi,
  { pod, sizing }: SizedPod,
  { engine, isRestore, isWithdrawal }: ResizeDecision,
  signal: AbortSignal,
): Promise<void> {
  const key = originalsKeys[engine];
  if (sizing.marks[key] !== undefined || isRestore === true || isWithdrawal === true) return;
  const { namespace, name, uid } = pod;
  const write = async (resourceVersion: string, marks: SizedPod['sizing']['marks']): Promise<void> => {
    const text =
      engine === 'allocation'
        ? originalsText(sizing.containers, true)
        : originalsText(beforeAllocation(sizing.containers, marks), false);
    const annotations = { [key]: text };
    const body = { metadata: { uid, resourceVersion, annotations } };
    const options = { namespace, signal, fieldManager: sizeManagers[engine], lane: 'control' } as const;
    await api.patch(resources.pods, name, { type: 'merge', body }, options);
  };
  try {
    await write(pod.resourceVersion, sizing.marks);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const fresh = await api.get(resources.pods, name, { namespace, signal });
    // Another spec: what was decided on is no longer there.
    if (fresh.metadata?.uid !== uid || (fresh.metadata.generation ?? 0) !== sizing.generation) throw error;
    const { annotations = {}, resourceVersion = '' } = fresh.metadata;
    if (annotations[key] === undefined) await write(resourceVersion, annotations);
  }
}

/** With the CPU that allocation found: a share that it has given is nothing the pod had. */
function beforeAllocation(
  containers: readonly ContainerSpecRecord[],
  marks: SizedPod['sizing']['marks'],
): readonly ContainerSpecRecord[] {
  const found = parseOriginals(marks[originalsKeys.allocation] ?? '');
  if (found === undefined) return containers;
  return containers.map((container) => {
    const { cpuRequest: _, cpuLimit: __, ...memory } = container.size;
    return { ...container, size: { ...memory, ...(found.get(container.name) ?? container.size) } };
  });
}
