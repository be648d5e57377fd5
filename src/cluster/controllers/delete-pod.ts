/** Deletes a pod that a controller expects to see go. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { nameOf, namespaceOf, uidOf } from '../objects.ts';
import type { Expectations } from './expectations.ts';

/** By uid, so that a successor of the same name is safe. Gone already is done; any failure ends the expectation. */
export async function deletePod(api: KubeApi, expectations: Expectations, key: string, pod: Pod): Promise<void> {
  try {
    await api.delete(resources.pods, nameOf(pod), { namespace: namespaceOf(pod), uid: uidOf(pod) });
  } catch (error) {
    expectations.deletionObserved(key, uidOf(pod));
    if (!isNotFound(error)) throw error;
  }
}
