/** Things that happen while nobody watches: all that the caches see of them is the outcome, in a listing. */
import type { ResourceType } from '../../api/resources.ts';
import type { VirtualCluster } from './virtual-cluster.ts';

/** The next watch of the type begins with what there is then, not where the last one broke. */
export async function unwatched<T>(
  { cluster }: VirtualCluster,
  { plural }: Pick<ResourceType, 'plural'>,
  action: () => Promise<T>,
): Promise<T> {
  const watches = { verbs: ['watch'], resources: [plural] };
  const { faults } = cluster.server;
  const outage = faults.add({ ...watches, effect: { kind: 'outage' } });
  const result = await action();
  faults.add({ ...watches, count: 1, effect: { kind: 'expire-watch', afterEvents: 0 } });
  outage.remove();
  return result;
}
