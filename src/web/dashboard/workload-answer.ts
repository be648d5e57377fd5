/** What is told of one workload; types only, as in answers.ts. */
import type { BlockTold, DecisionTold, Side, SideCountsTold } from './answers.ts';

export interface SlotTold {
  readonly pod: string;
  /** Absent for pods that hold no slot. */
  readonly slot?: number | undefined;
  readonly wanted?: Side | undefined;
  readonly actual: Side;
  readonly node?: string | undefined;
  readonly zone?: string | undefined;
  readonly ready: boolean;
  readonly state: 'settled' | 'wrong-side' | 'unknown' | 'surplus' | 'terminating' | 'ended';
  readonly note: string;
  readonly revision: string;
}

export interface StageTold {
  readonly stage: string;
  readonly text: string;
}

/** The usage that advice was made from, in columns of one width from 0 on. Millicores or bytes. */
export interface UsageTold {
  /**
   * What the columns are shares of: all samples of the last day or so; all samples ever, older ones fading; the highest
   * use in each six hours.
   */
  readonly of: 'last-day' | 'all-fading' | 'peaks';
  /** Upper end of the last column. */
  readonly end: number;
  /** Share of the whole in each, 0..1. */
  readonly columns: readonly number[];
  /** Share above the last column. */
  readonly beyond: number;
  readonly median: number;
  readonly p90: number;
  readonly highest: number;
  readonly request?: number | undefined;
  readonly advised?: number | undefined;
  readonly limit?: number | undefined;
  /** When usage was last heard of. */
  readonly until?: number | undefined;
}

/** One replica that may have a size of its own, and has a pod. Millicores and bytes that it requests. */
export interface ReplicaSizeTold {
  readonly replica: string;
  readonly pod?: string | undefined;
  /** Its own, that of all, or that of all because too little is known of its own use. */
  readonly size: 'own' | 'of-all' | 'unknown';
  readonly changedAt?: number | undefined;
  /** It has less of late, and is watched for it. */
  readonly isWatched: boolean;
  /** A sentence each. */
  readonly floors: readonly string[];
  readonly containers: readonly {
    readonly container: string;
    readonly cpu?: number | undefined;
    readonly cpuAdvised?: number | undefined;
    readonly memory?: number | undefined;
    readonly memoryAdvised?: number | undefined;
  }[];
}

export interface AllocatedPodTold {
  readonly pod: string;
  readonly node: string;
  readonly agent: string;
  readonly share: string;
  readonly ceiling?: string | undefined;
  readonly applied?: string | undefined;
  readonly appliedLimit?: string | undefined;
  readonly claim?: string | undefined;
  readonly want?: string | undefined;
  readonly usage?: string | undefined;
  readonly weight?: number | undefined;
  readonly mode?: string | undefined;
  readonly shadowPrice?: number | undefined;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly clamps: readonly string[];
}

/** Values in millicores, each from its time on until the next. */
export type Steps = readonly (readonly [at: number, millis: number])[];

export interface PodSharesTold {
  readonly pod: string;
  readonly given: Steps;
  readonly used: Steps;
  /** When the pod was gone. */
  readonly endedAt?: number | undefined;
}

/** The last hour, as far as it is known. */
export interface ShareHistoryTold {
  /** When somebody looked first: usage of before is not known. */
  readonly since: number;
  readonly pods: readonly PodSharesTold[];
  /** Pods that are not followed. */
  readonly omitted: number;
}

export interface WorkloadAnswer {
  readonly at: number;
  readonly isLeader: boolean;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** Of placement; absent for kinds it does not know. */
  readonly placement?:
    | {
        readonly policyState: 'managed' | 'unmanaged' | 'invalid';
        readonly headline: string;
        readonly policy: readonly string[];
        readonly next: string;
        readonly notes: readonly string[];
        readonly blocks: readonly BlockTold[];
        readonly actual: SideCountsTold & { readonly unknown: number };
        readonly target?: SideCountsTold | undefined;
        readonly floor: number;
        readonly drift: number;
        readonly slots: readonly SlotTold[];
        readonly costLines: readonly string[];
        readonly lastDisruption?: number | undefined;
      }
    | undefined;
  readonly sizing?:
    | {
        readonly policy: string;
        readonly mode: string;
        readonly others: readonly string[];
        readonly status?: string | undefined;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        /** RFC 3339: when the advice was last found or confirmed, and when it was last followed. */
        readonly lastRecommendation?: string | undefined;
        readonly lastApplied?: string | undefined;
        readonly containers: readonly {
          readonly container: string;
          readonly cpuRequest?: number | undefined;
          readonly cpuLimit?: number | undefined;
          readonly memoryRequest?: number | undefined;
          readonly memoryLimit?: number | undefined;
          /** Quantities that are advised. */
          readonly cpu?: string | undefined;
          readonly memory?: string | undefined;
          readonly explanation?: string | undefined;
          readonly cpuStages: readonly StageTold[];
          readonly memoryStages: readonly StageTold[];
          /** Absent where nothing is known; only the leader collects usage. */
          readonly cpuUsage?: UsageTold | undefined;
          readonly memoryUsage?: UsageTold | undefined;
        }[];
        /** In words, where the policy asks for a size per replica. */
        readonly replicaSizes?: string | undefined;
        /** Absent where replicas have one size; only the leader looks. */
        readonly replicas?: readonly ReplicaSizeTold[] | undefined;
        /** No pod has the size of all: what is advised for all is for new ones. */
        readonly isForNobody: boolean;
        readonly ongoing?:
          | {
              readonly phase: string;
              readonly method: string;
              readonly since: string;
              readonly note?: string | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly allocation: readonly AllocatedPodTold[];
  readonly shares?: ShareHistoryTold | undefined;
  /** Newest first. */
  readonly journal: readonly (Omit<DecisionTold, 'workload'> & { readonly firstAt: number })[];
}
