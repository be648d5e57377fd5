/**
 * Allocation in the demo: a node of its own with a service that asked for far too little beside a job that takes all it gets,
 * and the agent that measures both.
 */
import type { Deployment, KubeObject, Pod } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { podAllocationDescription } from '../../api/pod-allocation-schema.ts';
import { resources } from '../../api/resources.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { Random } from '../../lib/random.ts';
import type { Millicores } from '../../lib/units.ts';
import { createSimulatedAgents } from '../../simulator/simulated-agents.ts';
import { CommandError } from '../cli-error.ts';
import type { Cleanup } from './cleanup.ts';

/** One pod at one moment. */
export interface PodShare {
  readonly name: string;
  readonly request: Millicores;
  /** Undefined: none. */
  readonly limit: Millicores | undefined;
  readonly used: Millicores;
}

export interface DemoShares {
  /** What the pods of the node have and use now; empty before they run. */
  shares(): readonly PodShare[];
}

export interface DemoSharesOptions {
  readonly cluster: Pick<Cluster, 'api' | 'apply' | 'kubelet'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

export const SHARED_NODE = 'shared-1';
const NAMESPACE = 'allocation';
const GIB = 1024 ** 3;
/** Keeps the shop's pods away, and these two here. */
const taint = { key: 'stowage.test/shared', value: 'true', effect: 'NoSchedule' } as const;

/** Checkout needs seven times what it asked for; the report would use the whole node twice over. */
const workloads = [
  { name: 'checkout', request: '100m', load: '700m', labels: {} },
  { name: 'report', request: '900m', load: '4000m', labels: { 'mbcas.io/workload-type': 'batch' } },
] as const;

/** Adds a node whose pods share its CPU, with an agent. @throws CommandError when its objects cannot be created. */
export async function startDemoShares(options: DemoSharesOptions): Promise<DemoShares> {
  const { cluster, clock, random, log, cleanup } = options;
  const { problems } = await cluster.apply([
    customResourceDefinition(podAllocationDescription),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: { 'mbcas.io/managed': 'true' } } },
  ]);
  const [first] = problems;
  if (first !== undefined) throw new CommandError(`what allocation needs cannot be created: ${first}`);
  await cluster.kubelet.addNode({
    name: SHARED_NODE,
    cpuMillis: 2000,
    memoryBytes: 8 * GIB,
    labels: { 'karpenter.sh/capacity-type': 'on-demand', 'kubernetes.io/hostname': SHARED_NODE },
    taints: [taint],
  });
  for (const each of workloads) await cluster.api.create(resources.deployments, deploymentOf(each));
  const agents = createSimulatedAgents({
    usage: cluster.kubelet.usage,
    // A viewer does not wait a minute until a pod has started up.
    env: { MBCAS_STARTUP_GRACE_PERIOD: '5s' },
    clock,
    random,
    log,
  });
  cleanup.defer(() => agents.stop());
  agents.start(SHARED_NODE, cluster.api);
  return {
    shares: () =>
      cluster.kubelet
        .usages(SHARED_NODE)
        // A DaemonSet of the shop is there, too.
        .filter(({ pod }) => pod.metadata?.namespace === NAMESPACE)
        .map(({ pod, usedMillicores }) => ({
          name: pod.metadata?.labels?.['app'] ?? '',
          ...sizeOf(pod),
          used: Math.round(usedMillicores),
        })),
  };
}

function deploymentOf({ name, request, load, labels }: (typeof workloads)[number]): KubeObject & Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, ...labels }, annotations: { 'stowage.test/cpu': load } },
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': SHARED_NODE },
          tolerations: [{ key: taint.key, operator: 'Exists' }],
          containers: [{ name: 'app', image: `${name}:1`, resources: { requests: { cpu: request, memory: '64Mi' } } }],
        },
      },
    },
  };
}

function sizeOf({ spec }: Pod): Pick<PodShare, 'request' | 'limit'> {
  const { requests, limits } = spec?.containers[0]?.resources ?? {};
  return { request: tryParseMillicores(requests?.['cpu']) ?? 0, limit: tryParseMillicores(limits?.['cpu']) };
}
