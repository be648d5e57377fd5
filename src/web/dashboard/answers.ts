/**
 * What the dashboard's server tells its pages, as JSON. Types only and no imports, so that the pages, which know
 * neither Node nor the engines, share them. Times are milliseconds since the Unix epoch, money is dollars an hour, CPU
 * millicores, memory bytes.
 */

export type Side = 'spot' | 'on-demand' | 'unknown';

export interface SideCountsTold {
  readonly spot: number;
  readonly onDemand: number;
}

/** As `Standing` of decide/placement, which says what each means. */
export type WorkloadStateTold = 'invalid' | 'drifted' | 'incomplete' | 'balanced' | 'unmanaged';

export interface MoneyTold {
  readonly actual: number;
  /** The same pods, all on demand. */
  readonly allOnDemand: number;
}

export interface BlockTold {
  readonly reason: string;
  readonly message: string;
  /** What a person can do about it. */
  readonly advice: string;
  readonly retryAt?: number | undefined;
}

/** What rightsizing made of a workload at its last look. */
export interface SizeTold {
  /** `namespace/name`. */
  readonly policy: string;
  readonly mode: string;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  /** What following the advice would free, of all replicas. */
  readonly saving?: { readonly cpuMillis: number; readonly memoryBytes: number } | undefined;
}

export interface WorkloadRow {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: WorkloadStateTold;
  readonly replicas: number;
  readonly ready: number;
  readonly pending: number;
  readonly actual: SideCountsTold & { readonly unknown: number };
  readonly target?: SideCountsTold | undefined;
  /** Replicas that would have to change sides. */
  readonly drift: number;
  readonly blockedBy?: BlockTold | undefined;
  readonly cost?: MoneyTold | undefined;
  readonly size?: SizeTold | undefined;
  readonly lastDisruption?: number | undefined;
}

export interface WorkloadPage {
  readonly at: number;
  /** When the workloads were looked at. */
  readonly scannedAt: number;
  /** Of all workloads, whatever the filter. */
  readonly counts: Readonly<Record<WorkloadStateTold | 'all' | 'managed' | 'blocked', number>>;
  /** That the filter lets through. */
  readonly matching: number;
  readonly page: number;
  readonly pageSize: number;
  readonly rows: readonly WorkloadRow[];
}

export type DecisionKind = 'seen' | 'decided' | 'blocked' | 'done' | 'failed';

/** An entry of the decision journal. */
export interface DecisionTold {
  readonly at: number;
  /** `Deployment/shop/web`. */
  readonly workload: string;
  readonly kind: DecisionKind;
  readonly reason: string;
  readonly message: string;
  readonly pod?: string | undefined;
  readonly count: number;
}

export interface NodeClassTold {
  readonly class: Side;
  readonly nodes: number;
  /** Ready, not cordoned, not leaving. */
  readonly usable: number;
  readonly pods: number;
  readonly cpuMillis: number;
  readonly cpuRequested: number;
  readonly memoryBytes: number;
  readonly memoryRequested: number;
}

export interface OperatorTold {
  readonly identity: string;
  readonly isLeader: boolean;
  /** Who leads, where it is another replica. */
  readonly leader?: string | undefined;
  readonly readOnly: boolean;
  readonly engines: { readonly placement: boolean; readonly rightsizing: boolean; readonly allocation: boolean };
  readonly synced: boolean;
  /** Stores whose watch is broken. */
  readonly stale: readonly string[];
}

/** `GET /api/operator`. */
export interface OperatorAnswer extends OperatorTold {
  readonly at: number;
}

export interface OverviewAnswer {
  readonly at: number;
  readonly scannedAt: number;
  readonly operator: OperatorTold;
  readonly counts: WorkloadPage['counts'];
  readonly driftedReplicas: number;
  /** Live pods of managed workloads. */
  readonly actual: SideCountsTold & { readonly unknown: number; readonly pending: number };
  readonly target: SideCountsTold;
  /** Absent where no prices are configured. */
  readonly cost?:
    | (MoneyTold & {
        /** Once all is as it should be; absent where a part of it is unknown. */
        readonly target?: number | undefined;
        /** What the floors add. */
        readonly floors: number;
        readonly pods: number;
        readonly pricedPods: number;
      })
    | undefined;
  /** Present while so many spot nodes are lost that nothing is moved. */
  readonly storm?: BlockTold | undefined;
  /** What keeps moves from being made, the most frequent first. */
  readonly blocks: readonly (BlockTold & { readonly count: number; readonly example: string })[];
  readonly sizing?:
    | {
        readonly policies: number;
        readonly workloads: number;
        /** How many by result: Applied, Recommended, Pending, Skipped, Error. */
        readonly results: Readonly<Record<string, number>>;
        readonly saving: { readonly cpuMillis: number; readonly memoryBytes: number };
        /** Present while usage of some workloads cannot be read: how many, and why that of one of them. */
        readonly unread?: { readonly workloads: number; readonly why: string } | undefined;
      }
    | undefined;
  readonly allocation?:
    | {
        readonly pods: number;
        readonly nodes: number;
        /** Nodes where the wants, or even the claims, do not fit. */
        readonly congested: number;
        readonly overloaded: number;
        readonly phases: Readonly<Record<string, number>>;
      }
    | undefined;
  readonly nodes: readonly NodeClassTold[];
  /** Newest first. Only the leader remembers. */
  readonly decisions: readonly DecisionTold[];
}

export interface NodePodTold {
  readonly namespace: string;
  readonly pod: string;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Of allocation, where the pod takes part: what it is to request, and what it uses. */
  readonly shareMillis?: number | undefined;
  readonly usageMillis?: number | undefined;
  readonly phase?: string | undefined;
}

export interface NodeTold {
  readonly name: string;
  readonly class: Side;
  readonly zone?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly state: 'ready' | 'cordoned' | 'not ready' | 'leaving';
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly cpuRequested: number;
  readonly memoryRequested: number;
  readonly podCount: number;
  /** The largest by CPU request. */
  readonly pods: readonly NodePodTold[];
  readonly allocation?:
    | {
        readonly agent: string;
        readonly pods: number;
        readonly mode?: string | undefined;
        /** Utility of one more core; 0 while there is enough. */
        readonly shadowPrice?: number | undefined;
      }
    | undefined;
}

export interface NodePage {
  readonly at: number;
  readonly classes: readonly NodeClassTold[];
  readonly matching: number;
  readonly page: number;
  readonly pageSize: number;
  readonly nodes: readonly NodeTold[];
}

export interface PolicyTold {
  readonly namespace: string;
  readonly name: string;
  readonly group: string;
  readonly deleting: boolean;
  /** What is wrong with it, a sentence each. */
  readonly problems: readonly string[];
  readonly mode?: string | undefined;
  readonly weight?: number | undefined;
  readonly strategy?: string | undefined;
  readonly provider?: string | undefined;
  readonly window?: string | undefined;
  readonly owned: number;
  readonly results: Readonly<Record<string, number>>;
  readonly saving: { readonly cpuMillis: number; readonly memoryBytes: number };
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

export interface PoliciesAnswer {
  readonly at: number;
  readonly isLeader: boolean;
  readonly engines: OperatorTold['engines'];
  /** What placement does where annotations say nothing. */
  readonly placementDefaults: readonly { readonly name: string; readonly value: string }[];
  /** The heaviest first. */
  readonly policies: readonly PolicyTold[];
  /** Lighter ones that are not told. */
  readonly omitted: number;
}
