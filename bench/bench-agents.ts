/**
 * The agents of all nodes of a benchmark's cluster: of each node they write once in half a minute, by turns a sign of life
 * and another share for one of its pods, as where nothing much happens.
 */

import { allocationObject, desiredOf } from '../src/agent/allocation-object.ts';
import type { Pod } from '../src/api/core.ts';
import type { KubeApi } from '../src/api/kube-api.ts';
import {
  AGENT_FIELD_MANAGER,
  type AllocationDecision,
  type PodAllocation,
  podAllocations,
  RENEWED_ANNOTATION,
} from '../src/api/pod-allocation.ts';
import { resources } from '../src/api/resources.ts';
import { describeClamp } from '../src/decide/allocation/clamp.ts';
import { type Clock, sleep } from '../src/lib/clock.ts';
import { parseQuantity, toMillicores } from '../src/lib/quantity.ts';
import type { EpochMillis, Millicores } from '../src/lib/units.ts';
import { isoText } from '../src/lib/utc-text.ts';
import { benchNamespace } from './bench-world.ts';

const RENEWAL_SECONDS = 30;
/** Of nodes, as `bench-world.ts` has them. */
const ALLOCATABLE: Millicores = 15_890;

export interface ContainerRequest {
  readonly name: string;
  readonly millicores: Millicores;
}

/** CPU that each container asks for. */
export function requestsOf({ spec }: Pod): readonly ContainerRequest[] {
  return (spec?.containers ?? []).map(({ name, resources: amounts }) => ({
    name,
    millicores: toMillicores(parseQuantity(amounts?.requests?.['cpu'] ?? '0')),
  }));
}

const totalOf = (pod: Pod): Millicores => requestsOf(pod).reduce((sum, { millicores }) => sum + millicores, 0);

export interface AllocationOfOptions {
  /** As it is now: what it has is what it shall have, but for `step`. */
  readonly pod: Pod;
  /** As it came. */
  readonly original: Pod;
  /** Tells pods apart. */
  readonly index: number;
  readonly now: EpochMillis;
  /** What it is to get more. */
  readonly step?: Millicores;
}

/** As the agent of the pod's node writes it. */
export function allocationOf({ pod, original, index, now, step = 0 }: AllocationOfOptions): PodAllocation {
  const { metadata, spec } = pod;
  const [uid = '', name = '', nodeName = ''] = [metadata?.uid, metadata?.name, spec?.nodeName];
  const request = Math.max(20, totalOf(pod) + step);
  return allocationObject({
    pod: { uid, name, namespace: benchNamespace },
    nodeName,
    desired: desiredOf({ request, limit: undefined, limitPolicy: 'Keep' }, ALLOCATABLE, false),
    original: { request: totalOf(original), limit: undefined },
    decision: decisionOf(pod, request, index),
    now,
  });
}

/** A third of the nodes is congested, and of a quarter of the pods some rule moved the share. */
function decisionOf(pod: Pod, request: Millicores, index: number): AllocationDecision {
  const node = Number(pod.spec?.nodeName?.replace('node-', ''));
  const isCongested = node % 3 === 0;
  const usages = requestsOf(pod).map(({ name, millicores }) => ({
    name,
    millicores: Math.round(millicores * (0.2 + ((index * 13) % 60) / 100)),
  }));
  const stepLimit = { reason: 'StepLimit', what: 'share', before: request + 60, after: request } as const;
  return {
    mode: isCongested ? 'congested' : 'uncongested',
    shadowPriceCPU: isCongested ? (node * 37) / 100_000 : 0,
    claim: `${Math.round(request * 0.8)}m`,
    want: `${Math.round(request * 1.3)}m`,
    weight: 1 + (index % 7) / 8,
    cpuUsage: `${usages.reduce((sum, { millicores }) => sum + millicores, 0)}m`,
    containers: usages.map(({ name, millicores }) => ({ name, cpuUsage: `${millicores}m` })),
    ...(index % 4 === 0 && { clamps: [{ reason: stepLimit.reason, message: describeClamp(stepLimit) }] }),
  };
}

const asAgent = { namespace: benchNamespace, fieldManager: AGENT_FIELD_MANAGER };

export async function applyAllocation(api: KubeApi, body: PodAllocation): Promise<void> {
  await api.patch(podAllocations, body.metadata?.name ?? '', { type: 'apply', body, force: true }, asAgent);
}

export interface AgentsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  /** As they came. */
  readonly pods: readonly Pod[];
  readonly signal: AbortSignal;
}

/** Writes until `signal` aborts. */
export function runAgents({ api, clock, pods, signal }: AgentsOptions): void {
  const nodes = [...Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '').values()];
  const write = async (turn: number, node: number): Promise<void> => {
    const own = nodes[node] ?? [];
    const index = turn % own.length;
    const original = own[index];
    const { name = '', uid = '' } = original?.metadata ?? {};
    if (original === undefined) return;
    const now = clock.now();
    if ((turn + node) % 2 === 1) {
      const annotations = { [RENEWED_ANNOTATION]: isoText(now) };
      await api.patch(podAllocations, uid, { type: 'merge', body: { metadata: { annotations } } }, asAgent);
      return;
    }
    const pod = await api.get(resources.pods, name, { namespace: benchNamespace });
    const step = (turn + node) % 4 === 0 ? 70 : -70;
    await applyAllocation(api, allocationOf({ pod, original, index: node + index, now, step }));
  };
  const run = async (): Promise<void> => {
    for (let second = 0; !signal.aborted; second++) {
      const turn = Math.floor(second / RENEWAL_SECONDS);
      for (let node = second % RENEWAL_SECONDS; node < nodes.length; node += RENEWAL_SECONDS) await write(turn, node);
      await sleep(clock, 1000, signal).catch(() => {});
    }
  };
  run().catch((error: unknown) => {
    throw error;
  });
}
