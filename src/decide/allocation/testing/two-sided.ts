/**
 * Agent and operator together: plan, desired values as text, admission on fresh facts, a kubelet that takes its time.
 */
import type { PodAllocation } from '../../../api/pod-allocation.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import type { QuotaRecord } from '../../../model/sizing-records.ts';
import type { ResizeDecision } from '../../size-decision.ts';
import { type Admission, admitAllocation } from '../admit.ts';
import { type AllocationPod, type CpuSize, chargedCpu, sizeOf } from '../allocation-pod.ts';
import { clusterHints, type PodFacts } from '../hints.ts';
import type { HoldReason, NodeMemory, PodPlan } from '../node-input.ts';
import { planNode } from '../plan-node.ts';
import { readAllocation } from '../read-allocation.ts';
import type { AllocationRules } from '../rules.ts';
import { isResizing } from '../seat.ts';
import { burn } from './cpu-model.ts';
import { T0, testInput, testNode } from './pods.ts';

export interface World {
  readonly pods: AllocationPod[];
  /** What they came with; left out: what they have. */
  readonly originals?: readonly CpuSize[];
  readonly loads: readonly number[];
  readonly rules: AllocationRules;
  readonly facts: PodFacts;
  /** Of one pod, by its name; left out: they are those of all. */
  readonly factsOf?: (name: string) => PodFacts;
  /** Hard `requests.cpu` of the namespace; undefined: no quota. */
  readonly quota: number | undefined;
  readonly usesHints: boolean;
  /** What rightsizing advises each of the pods to request; left out: nothing. */
  readonly advice?: readonly (number | undefined)[];
  readonly seed: number;
}

/** Of the node. */
export const ALLOCATABLE = 1800;
const TICK = 2000;
/** Who is held for one of these still wants what it asked for; the agent takes back all else that did not come true. */
const waiting: ReadonlySet<HoldReason> = new Set(['Spacing', 'RateLimit', 'Observe', 'Frozen', 'Unmeasured']);

/** The object that the agent writes, as the operator reads it. */
function allocationOf({ namespace, name, uid, target, isForced, isFunding }: PodPlan): PodAllocation {
  return {
    metadata: { name: uid, namespace },
    spec: {
      namespace,
      podName: name,
      podUID: uid,
      desiredCPURequest: `${target.request}m`,
      desiredCPULimit: `${target.limit ?? ALLOCATABLE}m`,
      limitPolicy: target.limitPolicy,
      urgent: isForced || isFunding,
    },
  };
}

function write(pod: AllocationPod, { changes }: ResizeDecision): AllocationPod {
  const to = new Map(changes.map((change) => [change.container, change.to]));
  return {
    ...pod,
    generation: pod.generation + 1,
    containers: pod.containers.map((each) => ({ ...each, size: { ...each.size, ...to.get(each.name) } })),
  };
}

/** The kubelet has done what the spec says. */
function actuate(pod: AllocationPod): AllocationPod {
  const sizes = new Map(pod.containers.map(({ name, size }) => [name, size]));
  return {
    ...pod,
    observedGeneration: pod.generation,
    statuses: pod.statuses.map((status) => ({
      ...status,
      actual: sizes.get(status.name),
      allocated: sizes.get(status.name),
    })),
  };
}

/**
 * Runs both sides; `check` sees the pods after every write, `told` what the operator says of each allocation at each
 * pass. Returns the writes of every tick.
 */
export function run(
  world: World,
  ticks: number,
  check: (pods: readonly AllocationPod[], world: World) => void,
  told: (admission: Admission, pod: AllocationPod, tick: number) => void = () => {},
): number[] {
  const { loads, rules, quota } = world;
  const factsOf = (name: string): PodFacts => world.factsOf?.(name) ?? world.facts;
  const random = createSeededRandom(world.seed);
  let { pods } = world;
  const { originals = pods.map(sizeOf) } = world;
  let memory: NodeMemory = new Map();
  const desired = new Map<string, PodAllocation>();
  const lastWrites = new Map<string, number>();
  return Array.from({ length: ticks }, (_, tick) => {
    const now = T0 + TICK * tick;
    const measured = burn(pods, loads, 1670);
    const entries = pods.map((pod, index) => ({
      pod,
      measured: measured[index],
      original: originals[index],
      advice: world.advice?.[index],
      hints: world.usesHints ? clusterHints(pod, factsOf(pod.name), rules, now) : undefined,
    }));
    const plan = planNode(testInput(entries, { rules, memory, now }));
    memory = plan.memory;
    for (const each of plan.pods) {
      if (each.isWritten) desired.set(each.uid, allocationOf(each));
      else if (each.held !== undefined && !waiting.has(each.held)) desired.delete(each.uid);
    }
    let writes = 0;
    // The operator passes over all allocations a few times within a tick, the kubelet in between.
    for (let pass = 0; pass < 4; pass++) {
      for (const pod of [...pods]) {
        const allocation = desired.get(pod.uid);
        const read = allocation === undefined ? undefined : readAllocation(allocation);
        if (read?.ok !== true) continue;
        const charged = pods.reduce((sum, each) => sum + chargedCpu(each), 0);
        const used = pods.reduce((sum, each) => sum + chargedCpu(each), 0);
        const quotas = quota === undefined ? [] : [quotaRecord(quota, used)];
        const admission: Admission = admitAllocation(read.desired, {
          pod,
          workload: undefined,
          workloadUid: undefined,
          facts: factsOf(pod.name),
          history: {},
          quotas,
          node: { allocatable: ALLOCATABLE, conditions: testNode().conditions, charged },
          isStale: false,
          isOutdated: false,
          lastWriteAt: lastWrites.get(pod.uid),
          rules,
          now: now + 400 * pass,
        });
        told(admission, pod, tick);
        if (admission.kind !== 'resize') continue;
        writes++;
        lastWrites.set(pod.uid, now);
        pods = pods.map((each) => (each.uid === pod.uid ? write(each, admission.decision) : each));
        check(pods, world);
      }
      pods = pods.map((pod) => (isResizing(pod) && random.next() < 0.6 ? actuate(pod) : pod));
    }
    return writes;
  });
}

/** Of CPU requests, of the namespace of the pods. */
export const quotaRecord = (hard: number, used: number): QuotaRecord => ({
  namespace: 'shop',
  name: 'quota',
  hard: { cpuRequest: hard },
  used: { cpuRequest: used },
  scopes: undefined,
});
