/** One workload's entry in the status of its policy. */
import {
  type ApplyMethod,
  type ContainerRecommendation,
  MAX_CONTAINERS_IN_STATUS,
  type PolicyWorkloadStatus,
  type WorkloadResult,
} from '../../api/optimization-policy-status.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { ResourceAdvice } from './advice.ts';
import { formatCpu, formatMemory } from './amount-text.ts';
import type { SizedAdvice } from './recommend-workload.ts';

/** What was done about the advice, or why nothing was. */
export interface WorkloadOutcome {
  readonly status: WorkloadResult;
  readonly reason?: ReasonName | undefined;
  readonly message?: string | undefined;
}

export interface WorkloadStatusInput {
  readonly workload: WorkloadRef;
  /** Empty where nothing is advised, as by a Disabled policy. */
  readonly advice: readonly SizedAdvice[];
  readonly outcome: WorkloadOutcome;
  readonly lastRecommendation: EpochMillis | undefined;
  readonly lastApplied: EpochMillis | undefined;
  readonly lastApplyMethod: ApplyMethod | undefined;
  /** In words, what replicas have each for itself; undefined where they have one size. */
  readonly replicaSizes?: string | undefined;
  /** The last write was a server-side apply, so that fields are owned; undefined where nothing was written. */
  readonly fieldOwnership: boolean | undefined;
}

/** A status of 200 workloads should fit into an object of 1.5 MiB: at this length it does with six containers each. */
const MAX_EXPLANATION = 700;
const MAX_MESSAGE = 400;

export function workloadStatus(input: WorkloadStatusInput): PolicyWorkloadStatus {
  const { workload, advice, outcome, lastRecommendation, lastApplied, lastApplyMethod, fieldOwnership } = input;
  const { replicaSizes } = input;
  const { name, namespace, kind } = workload;
  return {
    name,
    namespace,
    kind,
    ...(lastRecommendation !== undefined && { lastRecommendation: formatTime(lastRecommendation) }),
    ...(lastApplied !== undefined && { lastApplied: formatTime(lastApplied) }),
    ...(advice.length > 0 && { recommendations: recommendationsOf(advice) }),
    status: outcome.status,
    ...(outcome.reason !== undefined && { reason: outcome.reason }),
    ...(outcome.message !== undefined && { message: cut(outcome.message, MAX_MESSAGE) }),
    ...(lastApplyMethod !== undefined && { lastApplyMethod }),
    ...(replicaSizes !== undefined && { replicaSizes }),
    ...(fieldOwnership !== undefined && { fieldOwnership }),
  };
}

/** Of as many containers as a status has room for. */
export function recommendationsOf(advice: readonly SizedAdvice[]): ContainerRecommendation[] {
  return advice.slice(0, MAX_CONTAINERS_IN_STATUS).map(containerRecommendation);
}

export function containerRecommendation({ container, cpu, memory }: SizedAdvice): ContainerRecommendation {
  const explanation = cut(`cpu: ${explain(cpu)}; memory: ${explain(memory)}`, MAX_EXPLANATION);
  return {
    container,
    ...(cpu.target !== undefined && { cpu: formatCpu(cpu.target) }),
    ...(memory.target !== undefined && { memory: formatMemory(memory.target) }),
    explanation,
  };
}

/** The stages in words, in their order. */
export function explain({ notes }: ResourceAdvice): string {
  return notes.map(({ stage, text }) => `${stage}: ${text}`).join(', ');
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 3)}...`;
}
