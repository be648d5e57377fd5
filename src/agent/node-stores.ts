/**
 * What the agent reads from the API, kept up to date: its node, the pods on it, their allocations, namespaces with a
 * say.
 */

import type { Namespace, Node, Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import {
  NODE_LABEL,
  nodeLabelValue,
  type PodAllocation,
  type PodAllocationSpec,
  podAllocations,
} from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { type AllocationPod, allocationPodOf } from '../decide/allocation/allocation-pod.ts';
import type { NodeCondition } from '../decide/allocation/integrations/node-conditions.ts';
import { MANAGED_LABEL, type Managed, managedOf, type PodMarks, readMarks } from '../decide/allocation/marks.ts';
import { createInformer, type Informer } from '../kube/informer.ts';
import { backoffPolicies } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Millicores, Millis } from '../lib/units.ts';
import { hasEnded } from '../model/owners.ts';
import { cpu, instant } from '../observe/fields.ts';
import { createPodInterners, projectPod } from '../observe/project-pod.ts';
import { plainSizing } from '../observe/sizing/compact-pod-sizing.ts';
import { projectPodSizing } from '../observe/sizing/project-pod-sizing.ts';
import { createSizingInterners } from '../observe/sizing/sizing-interners.ts';
import { containerIdOf } from './cgroup/names.ts';
import { type Guidance, readGuidance } from './guidance.ts';
import type { TrackedPod } from './sampler.ts';
import { type ToldFigures, toldFigures } from './told-figures.ts';

/** A pod of this node, for the planner and for the sampler. */
export interface AgentPod {
  readonly pod: AllocationPod;
  /** Read once: at each tick it would be a tenth of the plan. */
  readonly marks: PodMarks;
  readonly tracked: TrackedPod;
}

/** This node, as far as the planner needs it. */
export interface AgentNode {
  readonly name: string;
  readonly allocatable: Millicores;
  readonly capacity: Millicores;
  readonly conditions: readonly NodeCondition[];
}

/** What the agent needs to know of an allocation as it is on the server. */
export type KnownSpec = Pick<
  PodAllocationSpec,
  | 'podUID'
  | 'desiredCPURequest'
  | 'desiredCPULimit'
  | 'limitPolicy'
  | 'urgent'
  | 'originalCPURequest'
  | 'originalCPULimit'
>;

/** An allocation as the server has it, smaller than the object: there is one for each pod. */
export interface KnownAllocation {
  readonly namespace: string;
  readonly spec: KnownSpec;
  readonly told: ToldFigures;
  readonly guidance: Guidance | undefined;
}

/** Four watches, each of this node's objects only, but for labelled namespaces. */
export interface NodeStores {
  /** Pods that have not finished. */
  pods(): AgentPod[];
  /** Undefined: there is no such node. */
  node(): AgentNode | undefined;
  allocation(podUid: string): KnownAllocation | undefined;
  /** Of all pods of the node, by uid: also of those that have finished, or take no part any more. */
  allocations(): Iterable<readonly [string, KnownAllocation]>;
  /** The label `mbcas.io/managed` of the namespace. */
  namespaceManaged(namespace: string): Managed | undefined;
  /** Why nothing may be decided now; undefined while everything is known and up to date. */
  staleBecause(): string | undefined;
  onPodsChange(handler: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface NodeStoresOptions {
  readonly api: KubeApi;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A full node has 110 pods, a very full one 250. */
const PODS = 500;
/** There is an agent on every node: where an API server ends, all their watches break at one instant. */
export const RESUME_SPREAD: Millis = 5_000;

export function createNodeStores(options: NodeStoresOptions): NodeStores {
  const { api, nodeName, clock, random, log } = options;
  const retrying = { retryPolicy: backoffPolicies.nodeAgent, resumeSpreadMillis: RESUME_SPREAD };
  const common = { api, clock, random, log, ...retrying };
  const project = createPodProjection(log);
  const pods = createInformer<Pod, AgentPod>({
    ...common,
    type: resources.pods,
    project,
    selection: { fieldSelector: `spec.nodeName=${nodeName}` },
  });
  const nodes = createInformer<Node, AgentNode>({
    ...common,
    type: resources.nodes,
    project: projectAgentNode,
    selection: { fieldSelector: `metadata.name=${nodeName}` },
  });
  const allocations = createInformer<PodAllocation, KnownAllocation>({
    ...common,
    type: podAllocations,
    project: projectAllocation,
    selection: { labelSelector: `${NODE_LABEL}=${nodeLabelValue(nodeName)}` },
  });
  const namespaces = createInformer<Namespace, Managed>({
    ...common,
    type: resources.namespaces,
    project: ({ metadata }) => managedOf(metadata?.labels),
    selection: { labelSelector: MANAGED_LABEL },
  });
  const needed: readonly (readonly [string, Informer<unknown>])[] = [
    ['pods', pods],
    ['the node', nodes],
    ['PodAllocations', allocations],
    ['namespaces', namespaces],
  ];
  const byUid = new Map<string, KnownAllocation>();
  allocations.subscribe({
    onChange(_key, before, after) {
      const [old, young] = [before?.spec.podUID, after?.spec.podUID];
      if (old !== undefined && byUid.get(old) === before) byUid.delete(old);
      if (young !== undefined && after !== undefined) byUid.set(young, after);
    },
  });

  return {
    pods: () => [...pods.store.values()],
    node: () => nodes.store.get(nodeName),
    allocation: (podUid) => byUid.get(podUid),
    allocations: () => byUid,
    namespaceManaged: (namespace) => namespaces.store.get(namespace),
    staleBecause() {
      const stale = needed.find(([, { store }]) => store.state !== 'fresh');
      if (stale !== undefined) return `${stale[0]} cannot be followed at the moment`;
      const node = nodes.store.get(nodeName);
      if (node === undefined) return `there is no node ${nodeName}; set NODE_NAME or --node-name`;
      // As a kubelet has it that cannot read its machine: shared out, that would take from every pod all but its least.
      return node.allocatable > 0 ? undefined : `node ${nodeName} does not say how much CPU it has`;
    },
    onPodsChange: (handler) => void pods.subscribe({ onChange: handler }),
    run: async (signal) => void (await Promise.all(needed.map(([, informer]) => informer.run(signal)))),
  };
}

/** @returns undefined for pods that have finished: they have no control group and take nothing. */
export function createPodProjection(log: Logger): (pod: Pod) => AgentPod | undefined {
  const interners = { ...createPodInterners(PODS), sizing: undefined };
  const sizingInterners = createSizingInterners(PODS);
  return (object) => {
    const record = projectPod(object, interners);
    if (hasEnded(record)) return undefined;
    const sizing = plainSizing(projectPodSizing(object, sizingInterners));
    const { annotations } = object.metadata ?? {};
    const statuses = [...(object.status?.containerStatuses ?? []), ...(object.status?.initContainerStatuses ?? [])];
    const label = `${record.namespace}/${record.name}`;
    if (record.uid === '') log.warn({ pod: label }, 'A pod without a uid cannot be measured');
    const pod = allocationPodOf({ pod: record, sizing });
    return {
      pod,
      marks: readMarks(pod.marks),
      tracked: {
        groupUid: groupUidOf(record.uid, annotations?.['kubernetes.io/config.hash'], sizing.isStatic),
        label,
        containers: statuses.flatMap(({ name, containerID, state }) => {
          const id = containerIdOf(containerID);
          const isKept = sizing.containers.some((container) => container.name === name);
          return id === undefined || !isKept || state?.running === undefined ? [] : [{ name, id }];
        }),
      },
    };
  };
}

/**
 * The kubelet names the group of a static pod by the hash of its file. Anybody may write that annotation on a pod, and
 * with the uid of another one would be measured, and paid, for what that one does.
 */
function groupUidOf(uid: string, configHash: string | undefined, isStatic: boolean): string {
  const isHash = isStatic && configHash !== undefined && /^[0-9a-f]{32}$/i.test(configHash);
  return (isHash ? configHash : uid).toLowerCase();
}

/** @throws InvalidValueError when an amount is no quantity. */
export function projectAgentNode({ metadata, status }: Node): AgentNode {
  const capacity = cpu(status?.capacity?.['cpu'], 'status.capacity.cpu') ?? 0;
  return {
    name: metadata?.name ?? '',
    capacity,
    allocatable: cpu(status?.allocatable?.['cpu'], 'status.allocatable.cpu') ?? capacity,
    conditions: (status?.conditions ?? []).flatMap(({ type, status: is, lastTransitionTime }): NodeCondition[] => {
      if (type !== 'Ready' && type !== 'MemoryPressure' && type !== 'DiskPressure' && type !== 'PIDPressure') return [];
      if (is !== 'True' && is !== 'False' && is !== 'Unknown') return [];
      return [{ type, status: is, since: instant(lastTransitionTime, `condition ${type}`) }];
    }),
  };
}

/** Only objects that say which pod is meant: those of MBCAS itself do not. */
function projectAllocation({ metadata, spec, status }: PodAllocation): KnownAllocation | undefined {
  if (spec?.podUID === undefined || metadata?.name === undefined || metadata.namespace === undefined) return undefined;
  const { podUID, desiredCPURequest, desiredCPULimit, limitPolicy, urgent, originalCPURequest, originalCPULimit } =
    spec;
  return {
    namespace: metadata.namespace,
    spec: {
      podUID,
      desiredCPURequest,
      desiredCPULimit,
      ...(limitPolicy !== undefined && { limitPolicy }),
      ...(urgent !== undefined && { urgent }),
      ...(originalCPURequest !== undefined && { originalCPURequest }),
      ...(originalCPULimit !== undefined && { originalCPULimit }),
    },
    told: toldFigures(spec.decision),
    guidance: readGuidance(status?.guidance),
  };
}
