/** What rightsizing and allocation find in a cluster beyond its pods: definitions, a policy, usage, and a PodAllocation a pod. */
import type { Pod } from '../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../src/api/crd/crd.ts';
import { crdDescriptions } from '../src/api/crd/crds.ts';
import { policyType } from '../src/api/optimization-policy.ts';
import { COMPONENT_LABEL, NODE_LABEL, podAllocations } from '../src/api/pod-allocation.ts';
import { apiVersionOf, resources } from '../src/api/resources.ts';
import type { ApiServer } from '../src/cluster/apiserver/api-server.ts';
import type { Clock } from '../src/lib/clock.ts';
import { benchNamespace } from './bench-world.ts';

const policy = {
  apiVersion: 'optipod.io/v1alpha1',
  kind: 'OptimizationPolicy',
  metadata: { name: 'all', namespace: benchNamespace },
  spec: {
    mode: 'Recommend',
    selector: { namespaces: { allow: [benchNamespace] } },
    metricsConfig: { provider: 'metrics-server', strategy: 'CostAware' },
    resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '32Mi', max: '8Gi' } },
    updateStrategy: {},
  },
};

/** Makes every workload one of the policy, and every pod one an agent has spoken for. Usage wanders from look to look. */
export async function installEngineObjects(server: ApiServer, clock: Clock): Promise<void> {
  const api = server.client();
  for (const description of crdDescriptions)
    await api.create(customResourceDefinitions, customResourceDefinition(description));
  await api.create(policyType('optipod.io'), policy, { namespace: benchNamespace });
  await api.create(resources.namespaces, { metadata: { name: 'mbcas-system' } });
  const { items } = await api.list(resources.pods, { namespace: benchNamespace });
  for (const pod of items) await api.create(podAllocations, allocationOf(pod, clock), { namespace: benchNamespace });
  let look = 0;
  server.serveUsage({
    nodes: () => [],
    pods: (namespace) => {
      look++;
      const timestamp = new Date(clock.now()).toISOString();
      const wanted = namespace === undefined || namespace === benchNamespace ? items : [];
      return wanted.map(({ metadata }, index) => ({
        name: metadata?.name ?? '',
        namespace: benchNamespace,
        labels: metadata?.labels ?? {},
        timestamp,
        window: '15s',
        containers: ['app', 'proxy'].map((name, position) => ({
          name,
          usage: {
            cpu: `${40 + ((index * 7 + look * 13 + position) % 50)}m`,
            memory: `${100 + ((index + look) % 40)}Mi`,
          },
        })),
      }));
    },
  });
}

/** As the agent of the pod's node writes it: what the pod has is what it shall have. */
function allocationOf({ metadata, spec }: Pod, clock: Clock) {
  const [uid = '', name = '', node = ''] = [metadata?.uid, metadata?.name, spec?.nodeName];
  return {
    apiVersion: apiVersionOf(podAllocations),
    kind: podAllocations.kind,
    metadata: {
      name: uid,
      namespace: benchNamespace,
      labels: { [NODE_LABEL]: node, [COMPONENT_LABEL]: 'agent' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: {
      namespace: benchNamespace,
      podName: name,
      podUID: uid,
      nodeName: node,
      desiredCPURequest: '300m',
      desiredCPULimit: '15890m',
      limitPolicy: 'Keep' as const,
      originalCPURequest: '300m',
      decision: {
        mode: 'congested' as const,
        claim: '300m',
        want: '420m',
        weight: 1,
        cpuUsage: '120m',
        containers: ['app', 'proxy'].map((container) => ({ name: container, cpuUsage: '60m' })),
        clamps: [{ reason: 'SteadySum', message: 'requests of the node keep the sum of 4500m' }],
      },
      renewTime: new Date(clock.now()).toISOString(),
    },
  };
}
