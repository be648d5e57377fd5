/** One bare pod on a virtual cluster, for tests of the kubelet stand-in. */
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { VirtualCluster } from './virtual-cluster.ts';

export const IN_DEFAULT = { namespace: 'default' };
/** Delays without jitter. */
export const STEADY = { kubelet: { behaviour: { startMillis: 2000, readyMillis: 1000, stopMillis: 500, jitter: 0 } } };

export const barePod = (
  annotations: Record<string, string> = {},
  spec: Partial<NonNullable<Pod['spec']>> = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', annotations },
  spec: {
    containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '200m' }, limits: { cpu: '400m' } } }],
    ...spec,
  },
});

export async function start(at: VirtualCluster, pod: Pod): Promise<void> {
  await at.cluster.api.create(resources.pods, pod, IN_DEFAULT);
}

export const stored = ({ cluster }: VirtualCluster): Pod | undefined =>
  cluster.caches.of(resources.pods).get('default/a');

export const container = (at: VirtualCluster) => stored(at)?.status?.containerStatuses?.[0];

/** `Type=Status Reason` of each condition, sorted. */
export const conditions = (at: VirtualCluster): string[] =>
  (stored(at)?.status?.conditions ?? [])
    .map(({ type, status, reason }) => `${type}=${status}${reason ? ` ${reason}` : ''}`)
    .sort();
