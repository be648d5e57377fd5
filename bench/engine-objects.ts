/**
 * What rightsizing and allocation find in a cluster beyond its pods, once they have worked there for a while: definitions,
 * a policy, usage, pods of which each has a share of its own, a PodAllocation for each, and agents that go on writing.
 */
import { sizingKeys } from '../src/api/annotations-sizing.ts';
import type { Pod } from '../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../src/api/crd/crd.ts';
import { crdDescriptions } from '../src/api/crd/crds.ts';
import { policyType } from '../src/api/optimization-policy.ts';
import { resources } from '../src/api/resources.ts';
import type { ApiServer } from '../src/cluster/apiserver/api-server.ts';
import type { Clock } from '../src/lib/clock.ts';
import { originalsText } from '../src/model/original-sizes.ts';
import { sizeManagers } from '../src/model/size-managers.ts';
import { projectContainers } from '../src/observe/sizing/project-containers.ts';
import { allocationOf, applyAllocation, requestsOf, runAgents } from './bench-agents.ts';
import { benchNamespace } from './bench-world.ts';
import { saveRememberedUsage } from './remembered-usage.ts';

const policy = {
  apiVersion: 'optipod.io/v1alpha1',
  kind: 'OptimizationPolicy',
  metadata: { name: 'all', namespace: benchNamespace },
  spec: {
    mode: 'Recommend',
    selector: { namespaces: { allow: [benchNamespace] } },
    metricsConfig: { provider: 'metrics-server' },
    resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '32Mi', max: '8Gi' } },
    updateStrategy: {},
  },
};

export interface EngineObjectsOptions {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** Resolves when nobody writes any more. */
  readonly settled: () => Promise<void>;
  /** Ends the agents. */
  readonly signal: AbortSignal;
}

/** Makes every workload one of the policy, and every pod one an agent has spoken for. Usage wanders from look to look. */
export async function installEngineObjects({ server, clock, settled, signal }: EngineObjectsOptions): Promise<void> {
  const api = server.client();
  for (const description of crdDescriptions)
    await api.create(customResourceDefinitions, customResourceDefinition(description));
  await api.create(policyType('optipod.io'), policy, { namespace: benchNamespace });
  await api.create(resources.namespaces, { metadata: { name: 'mbcas-system' } });
  const { items } = await api.list(resources.pods, { namespace: benchNamespace });
  for (const [index, pod] of items.entries()) {
    const resized = await giveShare(server, pod, index);
    const now = clock.now();
    await applyAllocation(api, allocationOf({ pod: resized, original: pod, index, now }));
  }
  const ofWorkloads = new Map(items.map((pod) => [pod.metadata?.labels?.['app'] ?? '', pod]));
  await saveRememberedUsage(api, ofWorkloads, clock.now());
  await settled();
  let look = 0;
  server.serveUsage({
    nodes: () => [],
    pods: (namespace) => {
      look++;
      const timestamp = new Date(clock.now()).toISOString();
      const wanted = namespace === undefined || namespace === benchNamespace ? items : [];
      return wanted.map(({ metadata, spec }, index) => ({
        name: metadata?.name ?? '',
        namespace: benchNamespace,
        labels: metadata?.labels ?? {},
        timestamp,
        window: '15s',
        containers: (spec?.containers ?? []).map(({ name }, position) => ({
          name,
          usage: {
            cpu: `${40 + ((index * 7 + look * 13 + position) % 50)}m`,
            memory: `${100 + ((index + look) % 40)}Mi`,
          },
        })),
      }));
    },
  });
  runAgents({ api, clock, pods: items, signal });
}

/** Between half and one and a half times what its template asks for, as allocation writes it. */
async function giveShare(server: ApiServer, pod: Pod, index: number): Promise<Pod> {
  const api = server.client();
  const name = pod.metadata?.name ?? '';
  const options = { namespace: benchNamespace, fieldManager: sizeManagers.allocation };
  const annotations = { [sizingKeys.allocationOriginals]: originalsText(projectContainers(pod.spec), true) };
  await api.patch(resources.pods, name, { type: 'merge', body: { metadata: { annotations } } }, options);
  const containers = requestsOf(pod).map(({ name: container, millicores }, position) => {
    const part = 0.5 + ((index * 7919 + position * 4547) % 1000) / 1000;
    return { name: container, resources: { requests: { cpu: `${Math.round(millicores * part)}m` } } };
  });
  const patch = { type: 'strategic', body: { spec: { containers } } } as const;
  return await api.patch(resources.pods, name, patch, { ...options, subresource: 'resize' });
}
