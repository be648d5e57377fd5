/** Worlds in which allocations are written by hand, in place of agents. */
import {
  type AllocatedWorld,
  type AllocatedWorldOptions,
  createPods,
  type LoadedPodFields,
  startAllocatedWorld,
} from './allocated-world.ts';

/** These pods run, and nobody writes allocations. */
export async function worldOf(
  pods: readonly LoadedPodFields[],
  options: AllocatedWorldOptions = {},
): Promise<AllocatedWorld> {
  const world = await startAllocatedWorld({ startsAgents: false, ...options });
  await createPods(world.api, pods);
  await world.until('the pods run', async () => {
    for (const { name } of pods) {
      const { status } = await world.pod(name);
      if (status?.containerStatuses?.every(({ ready }) => ready) !== true) return false;
    }
    return true;
  });
  return world;
}

export const statusOf = async (world: AllocatedWorld, name: string) => (await world.allocation(name))?.status ?? {};
export const untilPhase = (world: AllocatedWorld, name: string, phase: string, reason?: string): Promise<void> =>
  world.until(
    `${name} is ${phase} ${reason ?? ''}`,
    async () => {
      const status = await statusOf(world, name);
      return status.phase === phase && (reason === undefined || status.reason === reason);
    },
    60_000,
  );

/** The spec of a pod with one container of these resources. */
export function containers(requests: object, limits?: object, more: object = {}) {
  return {
    containers: [
      {
        name: 'app',
        image: 'app:1',
        resources: { requests: { ...requests }, ...(limits && { limits: { ...limits } }) },
        ...more,
      },
    ],
  };
}
