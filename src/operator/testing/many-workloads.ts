/** Many workloads in one world, for properties that speak of the API. */
import { resources } from '../../api/resources.ts';
import type { EmbeddedWorld } from './embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  type PolicyFields,
  type SizedWorldOptions,
  startSizedWorld,
} from './sized-world.ts';
import { inShop } from './steps.ts';

export interface AnyWorkload {
  readonly name: string;
  /** Millicores and MiB. */
  readonly cpu: number;
  readonly memory: number;
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu: string; readonly memory: string } | undefined;
}

/** A world with these workloads, all running, and the policy. */
export async function manyWorkloads(
  workloads: readonly AnyWorkload[],
  policy: PolicyFields,
  options: SizedWorldOptions = {},
): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({
    spotNodes: 6,
    onDemandNodes: 6,
    ...options,
    rightsizing: `  maxChangesPerMinute: 10000\n  maxConcurrentResizes: 200\n${options.rightsizing ?? ''}`,
  });
  for (const { name, cpu, memory, requests, limits } of workloads) {
    await deployLoaded(world, {
      name,
      replicas: 1,
      cpu: `${cpu}m`,
      memory: `${memory}Mi`,
      requests,
      ...(limits !== undefined && { limits }),
    });
  }
  await world.until('all pods run', async () => {
    const { items } = await world.api.list(resources.pods, inShop);
    return items.length === workloads.length && items.every(({ status }) => status?.phase === 'Running');
  });
  await createPolicy(world, policy);
  return world;
}
