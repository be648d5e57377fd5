/** Writes a PodAllocation as the agent of the pod's node does. */
import { allocationObject } from '../../agent/allocation-object.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { AGENT_FIELD_MANAGER, type LimitPolicy, podAllocations } from '../../api/pod-allocation.ts';
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Millicores } from '../../lib/units.ts';

export interface Wish {
  readonly request: Millicores;
  /** Default: the policy `Keep`. */
  readonly limit?: Millicores;
  readonly limitPolicy?: LimitPolicy;
  readonly urgent?: boolean;
  /** Measured use by container. */
  readonly usage?: Readonly<Record<string, Millicores>>;
  /** In place of the pod's own. */
  readonly podUID?: string;
  /** Whose agent writes it. Default: of the pod's. */
  readonly nodeName?: string;
  /** Of the pod. Default `shop`. */
  readonly namespace?: string;
}

export async function wish(
  { api, clock }: { readonly api: KubeApi; readonly clock: Clock },
  podName: string,
  { request, limit, ...more }: Wish,
): Promise<void> {
  const { namespace = 'shop' } = more;
  const pod = await api.get(resources.pods, podName, { namespace });
  const uid = more.podUID ?? pod.metadata?.uid ?? '';
  const desired = {
    desiredCPURequest: `${request}m`,
    desiredCPULimit: `${limit ?? request}m`,
    limitPolicy: more.limitPolicy ?? (limit === undefined ? ('Keep' as const) : ('Apply' as const)),
    ...(more.urgent === true && { urgent: true }),
  };
  const object = allocationObject({
    pod: { uid, namespace, name: podName },
    nodeName: more.nodeName ?? pod.spec?.nodeName ?? '',
    desired,
    original: undefined,
    decision:
      more.usage === undefined
        ? undefined
        : {
            containers: Object.entries(more.usage).map(([name, cpuUsage]) => ({ name, cpuUsage: `${cpuUsage}m` })),
          },
    now: clock.now(),
  });
  const options = { namespace, fieldManager: AGENT_FIELD_MANAGER };
  await api.patch(podAllocations, uid, { type: 'apply', body: object, force: true }, options);
}
