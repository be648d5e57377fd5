/** What the demo shows at one moment, taken from the live view: nodes with their pods, workloads with their mix, the story, the decisions. */
import { ascending } from '../../lib/ascending.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { nodeClasses } from '../../model/node-classes.ts';
import { isLive } from '../../model/owners.ts';
import type { NodeClass, NodeRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { PlannedWorkload } from '../fleet.ts';
import { minOnDemandText } from '../plan/build-plan.ts';

export interface NodeLine {
  readonly name: string;
  readonly class: NodeClass;
  readonly state: 'ready' | 'not ready' | 'leaving';
  /** Live pods by workload, e.g. `web 4, api 2`. */
  readonly pods: string;
  readonly podCount: number;
}

export interface WorkloadLine {
  /** `web`, or `web (sts)`. */
  readonly name: string;
  /** `70 %, floor 1`. */
  readonly policy: string;
  readonly target: string;
  readonly actual: string;
  readonly ready: string;
  readonly state: 'as wanted' | 'moving' | 'starting' | 'invalid';
}

/** Something that was decided or done, and why. */
export interface DecisionLine {
  readonly at: EpochMillis;
  readonly text: string;
  readonly isWarning: boolean;
}

export interface Frame {
  readonly elapsedMillis: Millis;
  readonly story: string;
  readonly nodes: readonly NodeLine[];
  readonly workloads: readonly WorkloadLine[];
  /** Newest last. */
  readonly decisions: readonly DecisionLine[];
  readonly evictions: number;
  /** Of the node whose CPU is shared out, in one line; empty before its pods run. */
  readonly shares: string;
  /** First violations of the invariants; empty while all hold. */
  readonly violations: readonly string[];
}

/** A line for each node, by class, then name. Pods of DaemonSets are not counted: every node has them. */
export function nodeLines(view: ClusterView, sides: Sides): NodeLine[] {
  return [...view.nodes()]
    .map((node) => toNodeLine(view, sides, node))
    .sort((a, b) => nodeClasses.indexOf(a.class) - nodeClasses.indexOf(b.class) || ascending(a.name, b.name));
}

function toNodeLine(view: ClusterView, sides: Sides, node: NodeRecord): NodeLine {
  const pods = view.podsOnNode(node.name).filter((pod) => isLive(pod) && pod.owner?.kind !== 'DaemonSet');
  const counts = new Map<string, number>();
  for (const { owner, name } of pods) {
    const workload = owner === undefined ? name : workloadNameOf(view, owner.uid, owner.name);
    counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  const byName = [...counts].sort(([a], [b]) => ascending(a, b));
  return {
    name: node.name,
    class: sides.classOf(node),
    state: sides.leavingCause(node) !== undefined ? 'leaving' : sides.isCapacity(node) ? 'ready' : 'not ready',
    pods: byName.map(([workload, count]) => `${workload} ${count}`).join(', '),
    podCount: pods.length,
  };
}

function workloadNameOf(view: ClusterView, ownerUid: string, ownerName: string): string {
  return view.replicaSet(ownerUid)?.owner?.name ?? ownerName;
}

export function workloadLine({ workload, plan, ready, isBalanced }: PlannedWorkload): WorkloadLine {
  const { policy, target, actual } = plan;
  return {
    name: workload.kind === 'StatefulSet' ? `${workload.name} (sts)` : workload.name,
    policy:
      policy.state === 'managed'
        ? `${policy.rule.spotPercentage} %, floor ${minOnDemandText(policy.rule.minOnDemand)}`
        : policy.state,
    target: target === undefined ? '-' : `${target.spot}/${target.onDemand}`,
    actual: `${actual.spot}/${actual.onDemand}`,
    ready: `${ready}/${workload.replicas}`,
    state:
      policy.state === 'invalid'
        ? 'invalid'
        : plan.drift > 0
          ? 'moving'
          : isBalanced && ready === workload.replicas
            ? 'as wanted'
            : 'starting',
  };
}
