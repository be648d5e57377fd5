/** Takes away what works in a namespace, at once and at little cost: what a test no longer needs is nobody's to wait for. */
import type { Endpoint } from './endpoint.ts';

/** What controllers go on working for: group, version and plural. */
const WORKING = [
  'apps/v1/deployments',
  'apps/v1/statefulsets',
  'apps/v1/daemonsets',
  'apps/v1/replicasets',
  'batch/v1/jobs',
  'autoscaling/v2/horizontalpodautoscalers',
];

/** Path of all objects of a kind in a namespace. */
function collectionIn(namespace: string, kind: string): string {
  const at = kind.lastIndexOf('/');
  return `/apis/${kind.slice(0, at)}/namespaces/${namespace}${kind.slice(at)}`;
}

/**
 * Deletes controllers, then pods without grace: no kubelet is asked, and none needs to live. The namespace and what else is in it stay:
 * to delete a namespace takes more than a hundred calls, two for each kind of object there is.
 */
export async function emptyNamespace({ call }: Endpoint, namespace: string): Promise<void> {
  await Promise.all(WORKING.map((kind) => call('DELETE', collectionIn(namespace, kind))));
  await deletePods({ call }, namespace);
}

/** All pods of a namespace, without grace. */
export async function deletePods({ call }: Pick<Endpoint, 'call'>, namespace: string): Promise<void> {
  await call('DELETE', `/api/v1/namespaces/${namespace}/pods`, { body: { gracePeriodSeconds: 0 } });
}
