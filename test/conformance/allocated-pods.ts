/** Single pods in the world of allocation: made, given a wish, looked at and waited for. */
import { expect } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { isForbidden } from '../../src/api/kube-error.ts';
import type { PodAllocation } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { tryParseMillicores } from '../../src/lib/quantity.ts';
import type { Millicores } from '../../src/lib/units.ts';
import { type Wish, wish as writeWish } from '../../src/operator/testing/wish.ts';
import type { AllocationWorld, DeployFields } from './allocation-world.ts';
import { countedQuota } from './counted-quota.ts';

export const millis = (text: string | undefined): Millicores => tryParseMillicores(text) ?? 0;
export const requestOf = ({ spec }: Pod): Millicores => millis(spec?.containers[0]?.resources?.requests?.['cpu']);
const nameOf = ({ metadata }: Pod): string => metadata?.name ?? '';

export interface AllocatedPods {
  /** The pod of a workload of one replica. */
  only(namespace: string, fields: DeployFields): Promise<Pod>;
  /** Writes what an agent would. */
  wish(namespace: string, pod: Pod, fields: Wish): Promise<void>;
  current(namespace: string, pod: Pod): Promise<Pod>;
  allocation(namespace: string, pod: Pod): Promise<PodAllocation | undefined>;
  untilRequest(namespace: string, pod: Pod, check: (request: Millicores) => void): Promise<void>;
  untilReason(namespace: string, pod: Pod, reason: string): Promise<void>;
  /** Resolves when the operator knows of a bound, of which it tells whoever wishes something; wished is what the pod has. */
  untilBound(namespace: string, pod: Pod, reason: string): Promise<void>;
  /** Limits what the pods of a namespace request. Resolves when its controller has counted this much, and admission knows that, too. */
  limitRequests(namespace: string, cpu: Millicores, used: Millicores): Promise<void>;
  /** From now on the pods of `web` need more, and another one has more than it needs. */
  isBargainedFor(namespace: string): Promise<void>;
}

export function allocatedPods(world: () => AllocationWorld): AllocatedPods {
  const pods: AllocatedPods = {
    async only(namespace, fields) {
      const [pod] = await world().deploy(namespace, fields);
      if (pod === undefined) throw new Error('there is no pod');
      return pod;
    },
    wish: (namespace, pod, fields) => writeWish(world(), nameOf(pod), { ...fields, namespace }),
    current: (namespace, pod) => world().api.get(resources.pods, nameOf(pod), { namespace }),
    allocation: (namespace, pod) => world().allocation(namespace, nameOf(pod)),
    untilRequest: (namespace, pod, check) =>
      world().eventually(async () => check(requestOf(await pods.current(namespace, pod)))),
    untilReason: (namespace, pod, reason) =>
      world().eventually(async () => expect((await pods.allocation(namespace, pod))?.status?.reason).toBe(reason)),
    async untilBound(namespace, pod, reason) {
      await pods.wish(namespace, pod, { request: requestOf(pod) });
      await world().eventually(async () => {
        const { guidance } = (await pods.allocation(namespace, pod))?.status ?? {};
        expect(guidance?.bounds).toContainEqual(expect.objectContaining({ reason }));
      });
    },
    async limitRequests(namespace, cpu, used) {
      const { api, eventually } = world();
      const requests = (amount: Millicores) => ({ 'requests.cpu': `${amount}m` });
      await countedQuota(api, eventually, { namespace, name: 'cpu', hard: requests(cpu), used: requests(used) });
      const held = { requests: { cpu: `${cpu}m`, memory: '32Mi' } };
      const whole = {
        metadata: { name: 'probe' },
        spec: { containers: [{ name: 'app', image: 'a', resources: held }] },
      };
      await eventually(() =>
        expect(api.create(resources.pods, whole, { namespace, dryRun: true })).rejects.toSatisfy(isForbidden),
      );
    },
    async isBargainedFor(namespace) {
      world().load(namespace, 'idle', 10);
      await pods.only(namespace, { app: 'idle', node: world().nodes.agent, cpu: '600m' });
      world().load(namespace, 'web', 900);
    },
  };
  return pods;
}
