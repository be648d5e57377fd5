/** Our own arms: the plan the node agent makes, in its three ways of applying it. */
import type { AllocationPod } from '../../decide/allocation/allocation-pod.ts';
import type { NodeMemory, NodePod } from '../../decide/allocation/node-input.ts';
import { planNode } from '../../decide/allocation/plan-node.ts';
import { type AllocationRules, defaultAllocationRules } from '../../decide/allocation/rules.ts';
import type { Millis } from '../../lib/units.ts';
import type { Arm, LabFacts, PodObservation } from '../arm.ts';
import type { CpuSettings, LabPod } from '../substrate.ts';

const TICK_MILLIS: Millis = 2000;
/** The plan counts from the epoch; pods of the experiment have been there for an hour when it begins. */
const START_MILLIS: Millis = 3_600_000;

export const stowageArms: readonly Arm[] = [
  stowage('stowage', 'Nash bargaining on requests, a ceiling on who takes everything', {}),
  stowage('stowage-requests', 'Nash bargaining on requests, no ceilings', { ceilings: 'none' }),
  stowage('stowage-limits', 'Nash bargaining on limits', { apply: 'limits' }),
];

function stowage(name: string, describe: string, changes: Partial<AllocationRules>): Arm {
  // The other arms give away all that is allocatable, so ours keeps nothing back either.
  const rules: AllocationRules = { ...defaultAllocationRules, managementMode: 'optOut', margin: 0, ...changes };
  return {
    name,
    describe,
    tickMillis: TICK_MILLIS,
    create: (facts) => {
      let memory: NodeMemory = new Map();
      const originals = new Map<string, CpuSettings>();
      return {
        initial(pod) {
          const settings = { request: pod.request, limit: rules.apply === 'limits' ? pod.request : undefined };
          originals.set(pod.name, settings);
          return settings;
        },
        tick(observations, now) {
          const plan = planNode({
            node: nodeOf(facts),
            pods: observations.map((each) => nodePodOf(each, originals.get(each.pod.name))),
            memory,
            rules,
            now: START_MILLIS + now,
          });
          ({ memory } = plan);
          return new Map(
            plan.writes.map(({ uid, target, current }): [string, CpuSettings] => [
              uid,
              { request: target.request, limit: target.limitPolicy === 'Keep' ? current.limit : target.limit },
            ]),
          );
        },
      };
    },
  };
}

function nodeOf({ cpus, allocatable }: LabFacts) {
  const reserved = 1000 * cpus - allocatable;
  const ready = { type: 'Ready', status: 'True', since: 0 } as const;
  return { name: 'lab', allocatable, reserved, systemUse: reserved, conditions: [ready] };
}

function nodePodOf(
  { pod, settings, usage, throttledRatio, pressure }: PodObservation,
  original: CpuSettings | undefined,
): NodePod {
  return {
    pod: allocationPod(pod, settings),
    measured: { usage, throttledRatio, pressure, containers: [{ name: 'main', usage }] },
    original: original === undefined ? undefined : { request: original.request, limit: original.limit },
  };
}

function allocationPod({ name, claim, weight, isBatch }: LabPod, { request, limit }: CpuSettings): AllocationPod {
  const size = { cpuRequest: request, ...(limit !== undefined && { cpuLimit: limit }) };
  const marks = {
    'mbcas.io/weight': `${weight}`,
    'mbcas.io/min-cpu': `${claim}m`,
    ...(isBatch && { 'mbcas.io/workload-type': 'batch' }),
  };
  return {
    uid: name,
    namespace: 'lab',
    name,
    phase: 'Running',
    ready: true,
    readyChangedAt: 0,
    startedAt: 0,
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
        hasReadinessProbe: false,
      },
    ],
    statuses: [
      {
        name: 'main',
        running: true,
        ready: true,
        startedAt: 0,
        restartCount: 0,
        lastTermination: undefined,
        actual: size,
        allocated: { cpuRequest: request },
      },
    ],
    hasPodLevelResources: false,
    isStatic: false,
    os: 'linux',
    priority: 0,
    priorityClassName: '',
    resize: { pending: undefined, inProgress: undefined },
    generation: 1,
    observedGeneration: 1,
    marks,
    sizeManagers: [],
  };
}
