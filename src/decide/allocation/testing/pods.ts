/** Pods, nodes and plans for the tests of allocation. */
import type { AllocationPod } from '../allocation-pod.ts';
import type { NodeFacts, NodeInput, NodePod } from '../node-input.ts';
import { type AllocationRules, defaultAllocationRules } from '../rules.ts';

export const T0 = 1_000_000_000;

/** The whole surplus is shared out, so that bargains show in requests. */
export const testRules: AllocationRules = { ...defaultAllocationRules, managementMode: 'optOut', surplusShare: 1 };

export interface PodSketch {
  readonly request: number;
  readonly limit?: number;
  readonly marks?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly namespace?: string;
}

/** A running, ready Burstable pod of one container, long started. */
export function testPod(name: string, sketch: PodSketch, change: Partial<AllocationPod> = {}): AllocationPod {
  const { request, limit, marks = {}, priority = 0, namespace = 'shop' } = sketch;
  const size = { cpuRequest: request, ...(limit !== undefined && { cpuLimit: limit }), memoryRequest: 1 << 26 };
  return {
    uid: `uid-${name}`,
    namespace,
    name,
    phase: 'Running',
    ready: true,
    readyChangedAt: T0 - 3_600_000,
    startedAt: T0 - 3_600_000,
    terminating: false,
    overhead: 0,
    qos: 'Burstable',
    containers: [
      {
        name: 'main',
        isSidecar: false,
        size,
        cpuRestart: 'NotRequired',
        memoryRestart: 'NotRequired',
        hasReadinessProbe: true,
      },
    ],
    statuses: [
      {
        name: 'main',
        running: true,
        ready: true,
        startedAt: T0 - 3_600_000,
        restartCount: 0,
        lastTermination: undefined,
        actual: size,
        allocated: size,
      },
    ],
    hasPodLevelResources: false,
    isStatic: false,
    os: 'linux',
    priority,
    priorityClassName: '',
    resize: { pending: undefined, inProgress: undefined },
    generation: 1,
    observedGeneration: 1,
    marks,
    sizeManagers: [],
    ...change,
  };
}

/** As `testPod`, of these containers: `c0`, `c1` and so on. */
export function testPodOf(
  rows: readonly (readonly [request: number | undefined, limit?: number])[],
  change: Partial<AllocationPod> = {},
): AllocationPod {
  const base = testPod('a', { request: 1 });
  const containers = base.containers.flatMap((container) =>
    rows.map(([cpuRequest, cpuLimit], index) => ({
      ...container,
      name: `c${index}`,
      size: { ...(cpuRequest !== undefined && { cpuRequest }), ...(cpuLimit !== undefined && { cpuLimit }) },
    })),
  );
  const statuses = base.statuses.flatMap((status) =>
    containers.map(({ name, size }) => ({ ...status, name, actual: size, allocated: size })),
  );
  return { ...base, containers, statuses, ...change };
}

/** The pod after a resize that the kubelet has carried out. */
export function resized(
  pod: AllocationPod,
  to: { readonly request: number; readonly limit: number | undefined },
): AllocationPod {
  const size = {
    ...pod.containers[0]?.size,
    cpuRequest: to.request,
    ...(to.limit !== undefined && { cpuLimit: to.limit }),
  };
  return {
    ...pod,
    containers: pod.containers.map((container) => ({ ...container, size })),
    statuses: pod.statuses.map((status) => ({ ...status, actual: size, allocated: size })),
  };
}

export function testNode(change: Partial<NodeFacts> = {}): NodeFacts {
  return {
    name: 'node-1',
    allocatable: 1800,
    reserved: 200,
    systemUse: 150,
    conditions: [{ type: 'Ready', status: 'True', since: T0 - 86_400_000 }],
    ...change,
  };
}

export function using(usage: number, throttledRatio?: number, pressure?: number): NonNullable<NodePod['measured']> {
  return { usage, throttledRatio, pressure };
}

export function testInput(pods: readonly NodePod[], change: Partial<NodeInput> = {}): NodeInput {
  return { node: testNode(), pods, memory: new Map(), rules: testRules, now: T0, ...change };
}
