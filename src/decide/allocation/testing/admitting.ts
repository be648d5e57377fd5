/** A wish for a pod and everything it is admitted by, each to be changed. */
import type { LimitRangeRecord } from '../../../model/sizing-records.ts';
import { type Admission, type AdmissionFacts, admitAllocation } from '../admit.ts';
import type { AllocationPod } from '../allocation-pod.ts';
import type { DesiredCpu } from '../read-allocation.ts';
import { T0, testNode, testPod, testRules } from './pods.ts';

export const desired = (request: number, change: Partial<DesiredCpu> = {}): DesiredCpu => ({
  podUid: 'uid-a',
  request,
  limit: Math.max(1800, request),
  limitPolicy: 'Keep',
  urgent: false,
  usage: new Map(),
  ...change,
});

export const facts = (pod: AllocationPod, change: Partial<AdmissionFacts> = {}): AdmissionFacts => ({
  pod,
  workload: undefined,
  workloadUid: undefined,
  facts: { limitRanges: [], hpas: [], pdbs: [] },
  history: {},
  quotas: [],
  node: { allocatable: 1800, conditions: testNode().conditions, charged: 1000 },
  isStale: false,
  isOutdated: false,
  lastWriteAt: undefined,
  rules: testRules,
  now: T0,
  ...change,
});

export const pod = testPod('a', { request: 400 });

export const admit = (wanted: DesiredCpu, change: Partial<AdmissionFacts> = {}, subject = pod): Admission =>
  admitAllocation(wanted, facts(subject, change));

export const range = (min: number, max: number, ratio?: number): LimitRangeRecord => ({
  namespace: 'shop',
  name: 'r',
  type: 'Container',
  min: { cpu: min },
  max: { cpu: max },
  defaultRequest: {},
  defaultLimit: {},
  maxLimitRequestRatio: ratio === undefined ? {} : { cpu: ratio },
});

export const pending = (reason: 'Deferred' | 'Infeasible', age: number): Partial<AllocationPod> => ({
  resize: { pending: { reason, message: 'no room', since: T0 - age }, inProgress: undefined },
});
