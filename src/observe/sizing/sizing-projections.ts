/** The tolerant form of the projections of sizing: odd objects cost one message, and are then not sized. */
import type {
  CronJob,
  DaemonSet,
  HorizontalPodAutoscaler,
  Job,
  LimitRange,
  Pod,
  ResourceQuota,
} from '../../api/core.ts';
import type { OwnerReference } from '../../model/records.ts';
import type {
  HpaRecord,
  LimitRangeRecord,
  PodSizing,
  QuotaRecord,
  SizedWorkload,
  VpaRecord,
} from '../../model/sizing-records.ts';
import { createInterner } from '../intern.ts';
import { createTolerantReader } from '../tolerant-reader.ts';
import { projectHpa, projectVpa, type VpaObject } from './project-autoscalers.ts';
import { projectLimitRange, projectQuota } from './project-bounds.ts';
import { projectPodSizing } from './project-pod-sizing.ts';
import {
  type JobRecord,
  projectCronJob,
  projectDaemonSet,
  projectJob,
  projectSized,
  type SizeWorkload,
} from './project-sized-workload.ts';
import type { SizingInterners } from './sizing-interners.ts';

/** Each answers undefined for an object it cannot read, after saying so. */
export interface SizingProjections {
  readonly pod: (pod: Pod) => PodSizing | undefined;
  readonly workload: SizeWorkload;
  readonly daemonSet: (object: DaemonSet) => SizedWorkload | undefined;
  readonly job: (object: Job) => JobRecord | undefined;
  readonly cronJob: (object: CronJob) => SizedWorkload | undefined;
  readonly limitRange: (object: LimitRange) => readonly LimitRangeRecord[] | undefined;
  readonly quota: (object: ResourceQuota) => QuotaRecord | undefined;
  readonly hpa: (object: HorizontalPodAutoscaler) => HpaRecord | undefined;
  readonly vpa: (object: VpaObject) => VpaRecord | undefined;
}

const MAX_OWNERS = 50_000;

/** @param onOdd see {@link createTolerantReader}. */
export function createSizingProjections(
  interners: SizingInterners,
  onOdd: (message: string) => void,
): SizingProjections {
  const owners = createInterner<OwnerReference>(MAX_OWNERS);
  const tolerant = createTolerantReader('is left out of sizing', onOdd);
  return {
    pod: tolerant('Pod', (pod: Pod) => projectPodSizing(pod, interners)),
    workload: (object, record) => tolerant(record.kind, () => projectSized(object, record, interners))(object),
    daemonSet: tolerant('DaemonSet', (object: DaemonSet) => projectDaemonSet(object, interners)),
    job: tolerant('Job', (object: Job) => projectJob(object, interners, owners)),
    cronJob: tolerant('CronJob', (object: CronJob) => projectCronJob(object, interners)),
    limitRange: tolerant('LimitRange', projectLimitRange),
    quota: tolerant('ResourceQuota', projectQuota),
    hpa: tolerant('HorizontalPodAutoscaler', projectHpa),
    vpa: tolerant('VerticalPodAutoscaler', projectVpa),
  };
}
