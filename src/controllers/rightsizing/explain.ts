/**
 * What rightsizing makes of one workload, for `stowage explain --operator`: the very entry of the status, each stage,
 * what is under way.
 */
import type { PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import type { StageNote } from '../../decide/rightsizing/advice.ts';
import { replicaText } from '../../decide/rightsizing/replica-text.ts';
import type { PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import { byReplica } from '../../model/replica.ts';
import type { ContainerSize, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { RightsizingMemory } from './memory.ts';
import type { PolicyBooks } from './policies.ts';
import { entryOf } from './result-store.ts';
import { throttlingNote } from './throttling.ts';

/** Plain data, as it is sent over the wire. */
export interface SizingStory {
  /** `namespace/name`. */
  readonly policy: string;
  readonly mode: string;
  /** Policies that match too and would take over, in their order. */
  readonly others: readonly string[];
  /** The entry of the policy's status by the last look; only the leader looks, so undefined on others. */
  readonly entry: PolicyWorkloadStatus | undefined;
  readonly containers: readonly {
    readonly container: string;
    readonly current: ContainerSize;
    readonly cpu: readonly StageNote[];
    readonly memory: readonly StageNote[];
  }[];
  /** Of replicas that are sized each for itself; left out where they have one size. */
  readonly replicas?: readonly { readonly replica: string; readonly sizes: string }[];
  /** No pod has the size of all: what is advised for all is for none of them. */
  readonly isForNobody?: true;
  /** Why its usage cannot be read at present; left out where it can. */
  readonly unread?: string;
  /** The latest of the changes that are being watched. */
  readonly ongoing:
    | {
        readonly phase: string;
        readonly method: string;
        readonly since: string;
        readonly firstPod: string | undefined;
        readonly note: string | undefined;
      }
    | undefined;
}

/** Undefined where no policy has the say over the workload. */
export type SizingExplainer = (ref: WorkloadRef) => SizingStory | undefined;

export interface SizingExplainerOptions {
  readonly view: SizingView;
  readonly select: (workload: SizedWorkload) => PolicySelection;
  readonly books: PolicyBooks;
  readonly memory: RightsizingMemory;
}

export function createSizingExplainer({ view, select, books, memory }: SizingExplainerOptions): SizingExplainer {
  return (ref) => {
    const workload = view.workload(ref);
    const selection = workload === undefined ? undefined : select(workload);
    const policy = selection?.winner;
    if (workload === undefined || selection === undefined || policy === undefined) return undefined;
    const result = books.of(policy.uid).results.get(workloadKey(ref));
    const watched = memory.of(workload.uid).watches.ongoing;
    const ongoing = watched.at(-1);
    return {
      policy: `${policy.namespace}/${policy.name}`,
      mode: policy.spec.mode,
      others: selection.others.map(({ namespace, name }) => `${namespace}/${name}`),
      entry: result && entryOf(result),
      containers: (result?.advice ?? []).map(({ container, current, cpu, memory: ram }) => ({
        container,
        current,
        cpu: cpu.notes,
        memory: ram.notes,
      })),
      ...(result?.replicas && {
        replicas: result.replicas
          .toSorted((a, b) => byReplica(a.replica, b.replica))
          .map((each) => ({ replica: each.replica, sizes: replicaText(each) })),
      }),
      ...(result?.isForNobody === true && { isForNobody: true }),
      ...(result?.metricsProblem !== undefined && { unread: result.metricsProblem }),
      ongoing: ongoing && {
        phase: ongoing.phase,
        method: ongoing.method,
        since: formatTime(ongoing.startedAt),
        firstPod: ongoing.canary?.name,
        note: throttlingNote(watched),
      },
    };
  };
}
