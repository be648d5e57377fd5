/** An object on an API server for tests of writers: as it was seen, and replaced by a successor of the same name. */
import type { KubeObject } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { createApiServer } from '../../cluster/apiserver/api-server.ts';
import { applyObjects } from '../../cluster/apply.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';

const inShop = { namespace: 'shop' };

/** An object as far as a writer knows it: nothing but its uid and version may tell it from a successor. */
export interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** @param object called `web`, in the namespace `shop`; made when asked for. */
export async function worldWith({ type, object }: { readonly type: ResourceType; readonly object: KubeObject }) {
  const server = createApiServer({ clock: createVirtualClock(0), random: createSeededRandom(1) });
  const api = server.client();
  await applyObjects(api, server.core.registry.all(), crdDescriptions.map(customResourceDefinition));
  await api.create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const make = async (): Promise<Known> => {
    const { metadata } = await api.create(type, object, inShop);
    return { uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
  };
  const read = () => api.get(type, 'web', inShop);
  /** What has the name now is another object that is the same in everything else. */
  const replace = async (): Promise<Known> => {
    await api.delete(type, 'web', { ...inShop, gracePeriodSeconds: 0 });
    return make();
  };
  return { api, make, read, replace };
}
