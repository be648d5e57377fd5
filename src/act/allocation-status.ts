/** Writes the status of a PodAllocation: the operator's half of the object. */
import type { JsonPatchOperation, KubeApi } from '../api/kube-api.ts';
import { type PodAllocationStatus, podAllocations } from '../api/pod-allocation.ts';
import { sizeManagers } from '../model/size-managers.ts';
import { outcomeOfWrite, outcomeOfWriteError, type WriteOutcome } from './write-outcome.ts';

/** Replaces the status as a whole; spec and metadata are the agent's half. Never rejects. */
export type WriteAllocationStatus = (
  allocation: { readonly namespace: string; readonly name: string; readonly uid: string },
  status: PodAllocationStatus,
  signal: AbortSignal,
) => Promise<WriteOutcome>;

export function createWriteAllocationStatus(api: KubeApi): WriteAllocationStatus {
  return async ({ namespace, name, uid }, status, signal) => {
    // A status is written whole; the uid keeps it off a successor of the same name.
    const body: readonly JsonPatchOperation[] = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/status', value: status },
    ];
    const options = { namespace, signal, subresource: 'status', fieldManager: sizeManagers.allocation } as const;
    try {
      const stored = await api.patch(podAllocations, name, { type: 'json', body }, { ...options, lane: 'control' });
      return outcomeOfWrite({ status }, stored);
    } catch (error) {
      return outcomeOfWriteError(error);
    }
  };
}
