/** PodPlan -> PodAllocation: what the agent writes, and when what is on the server already says the same. */
import {
  AGENT_FIELD_MANAGER,
  type AllocationDecision,
  COMPONENT_LABEL,
  NODE_LABEL,
  nodeLabelValue,
  type PodAllocation,
  type PodAllocationSpec,
  podAllocations,
} from '../api/pod-allocation.ts';
import { apiVersionOf } from '../api/resources.ts';
import type { CpuSize } from '../decide/allocation/allocation-pod.ts';
import { describeClamp } from '../decide/allocation/clamp.ts';
import type { Measurement } from '../decide/allocation/demand.ts';
import type { NodePlan, PodPlan, PodTarget } from '../decide/allocation/node-input.ts';
import type { EpochMillis, Millicores } from '../lib/units.ts';
import { isoText } from '../lib/utc-text.ts';
import { toldRatio } from './measure.ts';

/** What a pod should have, in the words of the API. */
export type Desired = Pick<PodAllocationSpec, 'desiredCPURequest' | 'desiredCPULimit' | 'limitPolicy' | 'urgent'>;

/** @param allocatable of the node: stands for "no limit", because the field is required. */
export function desiredOf(target: PodTarget, allocatable: Millicores, urgent: boolean): Desired {
  const request = Math.max(1, Math.round(target.request));
  const limit = Math.max(request, Math.round(target.limit ?? allocatable));
  return {
    desiredCPURequest: milli(request),
    desiredCPULimit: milli(limit),
    limitPolicy: target.limitPolicy,
    ...(urgent && { urgent }),
  };
}

/** What the pod has, as something to desire: nothing is to change. */
export function keepingDesired(current: CpuSize, allocatable: Millicores): Desired {
  return desiredOf({ request: current.request, limit: current.limit, limitPolicy: 'Keep' }, allocatable, false);
}

/** Whether both ask for the same of the pod. Urgency alone changes nothing. */
export function isSameDesired(a: Desired, b: Desired): boolean {
  const keepsLimit = a.limitPolicy === 'Keep' && b.limitPolicy === 'Keep';
  return (
    a.desiredCPURequest === b.desiredCPURequest &&
    (keepsLimit ||
      (a.desiredCPULimit === b.desiredCPULimit && (a.limitPolicy ?? 'Apply') === (b.limitPolicy ?? 'Apply')))
  );
}

/** The numbers behind a plan, rounded so that noise does not show. */
export function decisionOf(plan: PodPlan, node: NodePlan, measured: Measurement | undefined): AllocationDecision {
  // Millicores to cores: the API speaks of one more core.
  const price = node.shadowPrice * 1000;
  const ratio = measured && toldRatio(measured);
  return {
    mode: node.mode,
    ...(Number.isFinite(price) && { shadowPriceCPU: round(price, 6) }),
    claim: milli(plan.claim),
    want: milli(plan.want),
    weight: round(plan.weight, 3),
    ...(measured !== undefined && { cpuUsage: milli(measured.usage) }),
    ...(ratio !== undefined && { throttledRatio: round(ratio, 3) }),
    ...(measured?.containers !== undefined &&
      measured.containers.length > 0 && {
        containers: measured.containers.map(({ name, usage, throttledRatio: throttled }) => ({
          name,
          cpuUsage: milli(usage),
          ...(throttled !== undefined && { throttledRatio: round(throttled, 3) }),
        })),
      }),
    ...(plan.clamps.length > 0 && {
      clamps: plan.clamps.map((clamp) => ({ reason: clamp.reason, message: describeClamp(clamp) })),
    }),
    ...(plan.coalition !== undefined && { coalition: plan.coalition.slice(0, MAX_LABEL) }),
    ...(plan.credit !== undefined && { credits: round(plan.credit, 3) }),
  };
}

/** What one object is made of. Without `original` and `decision` those fields are taken away on the server. */
export interface AllocationParts {
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly nodeName: string;
  readonly desired: Desired;
  readonly original: CpuSize | undefined;
  readonly decision: AllocationDecision | undefined;
  /** Wall clock, for people. */
  readonly now: EpochMillis;
}

/** The object for server-side apply: every field of ours, since one that is left out would be taken away. */
export function allocationObject(parts: AllocationParts): PodAllocation {
  const { pod, nodeName, desired, original, decision, now } = parts;
  return {
    apiVersion: apiVersionOf(podAllocations),
    kind: podAllocations.kind,
    metadata: {
      name: pod.uid,
      namespace: pod.namespace,
      labels: {
        'app.kubernetes.io/name': 'mbcas',
        'app.kubernetes.io/managed-by': AGENT_FIELD_MANAGER,
        [COMPONENT_LABEL]: 'agent',
        [NODE_LABEL]: nodeLabelValue(nodeName),
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid }],
    },
    spec: {
      namespace: pod.namespace,
      podName: pod.name,
      ...desired,
      podUID: pod.uid,
      nodeName,
      ...(original !== undefined && {
        originalCPURequest: milli(original.request),
        ...(original.limit !== undefined && { originalCPULimit: milli(original.limit) }),
      }),
      ...(decision !== undefined && { decision }),
      renewTime: isoText(now),
    },
  };
}

/** Longest value of a Kubernetes label; the API server refuses a longer one. */
const MAX_LABEL = 63;

const milli = (value: Millicores): string => `${Math.round(Math.min(value, Number.MAX_SAFE_INTEGER))}m`;

function round(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}
