/** The people and the cloud in the demo: what they do, they do through the API, as anyone would. */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../api/core.ts';
import { parseManifests } from '../../api/manifests.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import { CommandError } from '../cli-error.ts';
import type { Actor } from './story.ts';

export function createActor(cluster: Cluster): Actor {
  const patch = async ({ kind, namespace, name }: WorkloadRef, body: object): Promise<void> => {
    const type: ResourceType = kind === 'StatefulSet' ? resources.statefulSets : resources.deployments;
    await cluster.api.patch(type, name, { type: 'merge', body }, { namespace });
  };
  return {
    async applyWorkloads() {
      const { problems } = await cluster.apply(readShop());
      const [first] = problems;
      if (first !== undefined) throw new CommandError(`the demo's workloads cannot be created: ${first}`);
    },
    // Resolves only when the machine is gone, minutes later; the story goes on meanwhile.
    interrupt: (node) => void cluster.autoscaler.interrupt(node),
    scale: (workload, replicas) => patch(workload, { spec: { replicas } }),
    setSpotPercentage: (workload, percent) =>
      patch(workload, { metadata: { annotations: { 'spotalis.io/spot-percentage': String(percent) } } }),
  };
}

/** The shop without its slow starts, and its sessions started together: the audience sees the same in a third of the time. */
function readShop(): KubeObject[] {
  // The build puts it beside the compiled code.
  const path = import.meta.url.endsWith('.ts') ? '../../cluster/demo/shop.yaml' : './shop.yaml';
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
    .replaceAll(/^ *stowage\.test\/(?:start|ready)-after.*\n/gm, '')
    .replaceAll(/^( *)serviceName:/gm, '$1podManagementPolicy: Parallel\n$1serviceName:');
  return [...parseManifests(text, 'shop.yaml').objects];
}
