/** Single pods in the world of allocation: made, given a wish, looked at and waited for. */
import { expect } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import type { PodAllocation } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { tryParseMillicores } from '../../src/lib/quantity.ts';
import type { Millicores } from '../../src/lib/units.ts';
import { type Wish, wish as writeWish } from '../../src/operator/testing/wish.ts';
import type { AllocationWorld, DeployFields } from './allocation-world.ts';

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
    async isBargainedFor(namespace) {
      world().load(namespace, 'idle', 10);
      await pods.only(namespace, { app: 'idle', node: world().nodes.agent, cpu: '600m' });
      world().load(namespace, 'web', 900);
    },
  };
  return pods;
}
