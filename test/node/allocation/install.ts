/** What allocation needs in the API before anything of it runs. */
import { customResourceDefinition, customResourceDefinitions } from '../../../src/api/crd/crd.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { isNotFound } from '../../../src/api/kube-error.ts';
import { podAllocations } from '../../../src/api/pod-allocation.ts';
import { podAllocationDescription } from '../../../src/api/pod-allocation-schema.ts';
import { type Clock, sleep } from '../../../src/lib/clock.ts';

const POLL_MILLIS = 100;

/** Resolves when PodAllocations are served. */
export async function installPodAllocations(api: KubeApi, clock: Clock): Promise<void> {
  const body = customResourceDefinition(podAllocationDescription);
  const name = body.metadata?.name ?? '';
  await api.patch(customResourceDefinitions, name, { type: 'apply', body, force: true }, { fieldManager: 'suite' });
  for (;;) {
    try {
      await api.list(podAllocations);
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await sleep(clock, POLL_MILLIS);
    }
  }
}

export async function uninstallPodAllocations(api: KubeApi): Promise<void> {
  await api.delete(customResourceDefinitions, `${podAllocations.plural}.${podAllocations.group}`);
}
