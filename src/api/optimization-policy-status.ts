/** The status of an OptimizationPolicy: what is known about the workloads it owns. */

/** metav1.Condition. */
export interface PolicyCondition {
  type:
    | 'Ready'
    | 'MetricsAvailable'
    | 'DryRun'
    | 'PermissionsSufficient'
    | 'Degraded'
    | 'ActuationIneffective'
    | (string & {});
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** Go-canonical quantities, e.g. `500m`, `512Mi`. A resource without a value has no advice; `explanation` says why. */
export interface ContainerRecommendation {
  container: string;
  cpu?: string;
  memory?: string;
  explanation?: string;
}

/** What came of a workload at the last look; `Pending` waits for something that comes by itself. */
export const workloadResults = ['Applied', 'Recommended', 'Skipped', 'Error', 'Pending'] as const;
export type WorkloadResult = (typeof workloadResults)[number];

/** By which way sizes were last brought to the pods. */
export const applyMethods = ['InPlace', 'Recreate', 'ServerSideApply', 'StrategicMergePatch', 'Eviction'] as const;
export type ApplyMethod = (typeof applyMethods)[number];

/** One workload this policy has the say over. Workloads of another policy are in that one's status. */
export interface PolicyWorkloadStatus {
  name: string;
  namespace: string;
  kind: string;
  /** RFC 3339. */
  lastRecommendation?: string;
  /** RFC 3339. */
  lastApplied?: string;
  recommendations?: ContainerRecommendation[];
  status?: WorkloadResult;
  /** A name of the reason table, or a sentence. */
  reason?: string;
  message?: string;
  lastApplyMethod?: ApplyMethod;
  /** Where the policy asks for a size per replica: how many have one of their own, and from which to which. */
  replicaSizes?: string;
  /** Whether the requests in the template are owned through server-side apply. */
  fieldOwnership?: boolean;
}

/** Written by the leader only; what OptiPod wrote there is read as well. */
export interface OptimizationPolicyStatus {
  observedGeneration?: number;
  conditions?: PolicyCondition[];
  workloadsDiscovered?: number;
  workloadsProcessed?: number;
  /** RFC 3339. */
  lastReconciliation?: string;
  workloadsByType?: { deployments?: number; statefulSets?: number; daemonSets?: number };
  /** At most {@link MAX_WORKLOADS_IN_STATUS}, those with the largest saving first. */
  workloads?: PolicyWorkloadStatus[];
  /** How many more there are than `workloads` shows. */
  workloadsOmitted?: number;
}

/** Objects may be 1.5 MB (etcd); this keeps a status well below it, with long explanations. */
export const MAX_WORKLOADS_IN_STATUS = 200;

/** Of each workload. One with more, which anybody may make, must not have the status of all others refused. */
export const MAX_CONTAINERS_IN_STATUS = 200;
