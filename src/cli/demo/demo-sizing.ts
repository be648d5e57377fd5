/** Rightsizing in the demo: a policy that advises the shop's workloads, whose requests are what somebody once guessed, and changes nothing. */
import type { KubeObject } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { CommandError } from '../cli-error.ts';

/** A viewer does not wait a day until advice is trusted. */
const policy: KubeObject & { readonly spec: Readonly<Record<string, unknown>> } = {
  apiVersion: 'optipod.io/v1alpha1',
  kind: 'OptimizationPolicy',
  metadata: { name: 'right-size', namespace: 'shop' },
  spec: {
    mode: 'Recommend',
    selector: { namespaces: { allow: ['shop'] }, workloadTypes: { include: ['Deployment', 'StatefulSet'] } },
    metricsConfig: {
      provider: 'metrics-server',
      strategy: 'CostAware',
      minHistory: '0s',
      minSamples: 1,
      startupExclusion: '5s',
    },
    resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '16Mi', max: '8Gi' } },
    updateStrategy: {},
    reconciliationInterval: '10s',
  },
};

/** Before the operator starts, which looks for what is not there only now and then. @throws CommandError when it cannot be created. */
export async function addDemoPolicy(cluster: Pick<Cluster, 'apply'>): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  // A definition is served once it is there.
  for (const objects of [[...crdDescriptions.map(customResourceDefinition), namespace], [policy]]) {
    const [problem] = (await cluster.apply(objects)).problems;
    if (problem !== undefined) throw new CommandError(`what rightsizing needs cannot be created: ${problem}`);
  }
}
