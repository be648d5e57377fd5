/** What a running operator tells of a workload's sizes, in the form that is shown. */
import { formatCpu, formatMemory } from '../../decide/rightsizing/amount-text.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { OperatorSizing } from '../operator-client.ts';
import type { PlannedSizes, SizeDifference } from './sizing-plan.ts';

/** What the running operator tells of one workload's sizes, in the form in which they are planned here. */
export function sizesTold({ kind, namespace, name }: WorkloadRef, told: OperatorSizing): PlannedSizes {
  const { policy, mode, entry, containers, replicas, isForNobody, ongoing, unread } = told;
  const watched =
    ongoing === undefined
      ? undefined
      : `a change (${ongoing.method}) of ${ongoing.since} is watched${ongoing.firstPod === undefined ? '' : `, first on pod ${ongoing.firstPod}`}${ongoing.note === undefined ? '' : `; ${ongoing.note}`}`;
  return {
    kind,
    namespace,
    name,
    policy,
    mode,
    ...(entry?.status !== undefined && { status: entry.status }),
    ...(entry?.reason !== undefined && { reason: entry.reason }),
    ...((entry?.message ?? watched) !== undefined && { message: [entry?.message, watched].filter(Boolean).join('; ') }),
    ...(entry?.lastApplied !== undefined && { lastApplied: entry.lastApplied }),
    ...(entry?.replicaSizes !== undefined && { replicaSizes: entry.replicaSizes }),
    ...(replicas !== undefined && { replicas }),
    ...(isForNobody === true && { isForNobody }),
    ...(unread !== undefined && { unread }),
    differences: containers.map((each) => differenceOf(each, entry)),
    ...(entry === undefined && { missing: 'this replica has not looked at it; only the leader does' }),
  };
}

type ToldContainer = OperatorSizing['containers'][number];

function differenceOf(
  { container, current, cpu, memory }: ToldContainer,
  entry: OperatorSizing['entry'],
): SizeDifference {
  const recommended = entry?.recommendations?.find((each) => each.container === container);
  const [cpuNow, memoryNow] = [current.cpuRequest ?? current.cpuLimit, current.memoryRequest ?? current.memoryLimit];
  const story = (notes: ToldContainer['cpu']): string => notes.map(({ stage, text }) => `${stage}: ${text}`).join(', ');
  return {
    container,
    ...(recommended?.cpu !== undefined && {
      cpu: { ...(cpuNow !== undefined && { from: formatCpu(cpuNow) }), to: recommended.cpu },
    }),
    ...(recommended?.memory !== undefined && {
      memory: { ...(memoryNow !== undefined && { from: formatMemory(memoryNow) }), to: recommended.memory },
    }),
    why: `cpu: ${story(cpu)}; memory: ${story(memory)}`,
  };
}
