/** Deployment, StatefulSet -> records. */
import { isEnabled } from '../api/annotations-values.ts';
import type { Deployment, KubeObject, StatefulSet } from '../api/core.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { RolloutStrategy, WorkloadRecord } from '../model/records.ts';
import { countOr, instant, listOf, requireText, textMap, textOr, withPrefix } from './fields.ts';
import type { PodInterners } from './project-pod.ts';
import { projectTemplate } from './project-template.ts';
import type { SizedObject } from './sizing/project-sized-workload.ts';

/** API default of both bounds of a rolling update. */
const DEFAULT_ROLLING_BOUND = '25%';

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectDeployment(deployment: Deployment, interners: PodInterners): WorkloadRecord {
  const { spec, status } = deployment;
  const replicas = countOr(spec?.replicas, 1, 'spec.replicas');
  const record: WorkloadRecord = {
    ...projectIdentity(deployment, 'apps/v1', 'Deployment'),
    observedGeneration: countOr(status?.observedGeneration, 0, 'status.observedGeneration'),
    replicas,
    selector: spec?.selector,
    template: interners.templates.intern(
      projectTemplate(spec?.template.metadata?.labels, spec?.template.spec ?? { containers: [] }),
    ),
    paused: spec?.paused === true,
    ...minReady(spec),
    rollout: projectRollout(spec?.strategy, replicas),
    status: {
      ...projectCounts(status),
      available: countOr(status?.availableReplicas, 0, 'status.availableReplicas'),
      stuckSince: stuckSince(status?.conditions),
      currentRevision: undefined,
      updateRevision: undefined,
    },
  };
  return withSize(record, deployment, interners);
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectStatefulSet(statefulSet: StatefulSet, interners: PodInterners): WorkloadRecord {
  const { spec, status } = statefulSet;
  const ready = countOr(status?.readyReplicas, 0, 'status.readyReplicas');
  const record: WorkloadRecord = {
    ...projectIdentity(statefulSet, 'apps/v1', 'StatefulSet'),
    observedGeneration: countOr(status?.observedGeneration, 0, 'status.observedGeneration'),
    replicas: countOr(spec?.replicas, 1, 'spec.replicas'),
    selector: spec?.selector,
    template: interners.templates.intern(
      projectTemplate(spec?.template.metadata?.labels, spec?.template.spec ?? { containers: [] }),
    ),
    paused: false,
    ...minReady(spec),
    rollout: {
      type: 'StatefulSet',
      start: countOr(ordinalsOf(spec)?.start, 0, 'spec.ordinals.start'),
      partition: countOr(
        spec?.updateStrategy?.rollingUpdate?.partition,
        0,
        'spec.updateStrategy.rollingUpdate.partition',
      ),
      onDelete: spec?.updateStrategy?.type === 'OnDelete',
      orderedReady: spec?.podManagementPolicy !== 'Parallel',
    },
    status: {
      ...projectCounts(status),
      // Servers before 1.22 do not report availability.
      available: countOr(availableOf(status), ready, 'status.availableReplicas'),
      stuckSince: undefined,
      currentRevision: status?.currentRevision,
      updateRevision: status?.updateRevision,
    },
  };
  return withSize(record, statefulSet, interners);
}

/**
 * The record with the part that sizing needs, where an engine does; without it where that part cannot be read, so that
 * a container's odd amount keeps no workload from being placed.
 */
export function withSize(record: WorkloadRecord, object: SizedObject, interners: PodInterners): WorkloadRecord {
  return interners.sizing === undefined ? record : { ...record, sized: interners.sizing.workload(object, record) };
}

type Identity = Omit<
  WorkloadRecord,
  'observedGeneration' | 'replicas' | 'selector' | 'template' | 'paused' | 'rollout' | 'status'
>;

/** Who a workload is, and what people wrote on it; the same for every kind. @throws InvalidValueError (or TypeError for a wrong shape) */
export function projectIdentity(object: KubeObject, apiVersion: string, kind: string): Identity {
  const { metadata = {} } = object;
  return {
    apiVersion,
    kind,
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    uid: textOr(metadata.uid, '', 'metadata.uid'),
    resourceVersion: textOr(metadata.resourceVersion, '', 'metadata.resourceVersion'),
    generation: countOr(metadata.generation, 0, 'metadata.generation'),
    createdAt: instant(metadata.creationTimestamp, 'metadata.creationTimestamp') ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    enabled: isEnabled(textMap(metadata.labels, 'metadata.labels')),
    annotations: withPrefix(textMap(metadata.annotations, 'metadata.annotations'), 'spotalis.io/'),
  };
}

/** `spec.minReadySeconds`, which the published types of some versions lack for StatefulSets. */
export function minReady(spec: object | undefined): Pick<WorkloadRecord, 'minReadyMillis'> {
  const { minReadySeconds }: { readonly minReadySeconds?: unknown } = spec ?? {};
  const seconds = countOr(minReadySeconds, 0, 'spec.minReadySeconds');
  return seconds === 0 ? {} : { minReadyMillis: seconds * 1000 };
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: unknown;
}

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxSurge?: unknown; readonly maxUnavailable?: unknown };
}

interface Counts {
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
}

/** What the controller last counted; 0 where it says nothing. @throws InvalidValueError for what is no count */
export function projectCounts(status: Counts | undefined): {
  readonly replicas: number;
  readonly updated: number;
  readonly ready: number;
} {
  return {
    replicas: countOr(status?.replicas, 0, 'status.replicas'),
    updated: countOr(status?.updatedReplicas, 0, 'status.updatedReplicas'),
    ready: countOr(status?.readyReplicas, 0, 'status.readyReplicas'),
  };
}

/** @param strategy of a Deployment, or of a kind like it. */
export function projectRollout(strategy: Strategy | undefined, replicas: number): RolloutStrategy {
  const { type, rollingUpdate } = strategy ?? {};
  if (type === 'Recreate') return { type: 'Recreate' };
  const maxSurge = resolveBound(rollingUpdate?.maxSurge, replicas, Math.ceil, 'maxSurge');
  const maxUnavailable = resolveBound(rollingUpdate?.maxUnavailable, replicas, Math.floor, 'maxUnavailable');
  // Both zero would never progress. Source: ResolveFenceposts in pkg/controller/deployment/util.
  return {
    type: 'RollingUpdate',
    maxSurge,
    maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable,
  };
}

/** A bound of a rolling update as a number of pods. */
function resolveBound(value: unknown, replicas: number, round: (share: number) => number, field: string): number {
  const bound = value ?? DEFAULT_ROLLING_BOUND;
  const percent = typeof bound === 'string' ? /^([0-9]{1,4})%$/.exec(bound)?.[1] : undefined;
  return percent === undefined
    ? countOr(bound, 0, `spec.strategy.rollingUpdate.${field}`)
    : round((replicas * Number(percent)) / 100);
}

/** Since when a Deployment, or a kind like it, reports a rollout that makes no progress. */
export function stuckSince(conditions: readonly Condition[] | undefined): EpochMillis | undefined {
  const condition = listOf(conditions, 'status.conditions').find(({ type }) => type === 'Progressing');
  if (condition?.status !== 'False' || condition.reason !== 'ProgressDeadlineExceeded') return undefined;
  return instant(condition.lastTransitionTime, 'status.conditions[Progressing].lastTransitionTime') ?? 0;
}

/**
 * Refusals that end without anybody changing the pod or what refuses it: a quota that is full, a namespace that is just
 * being made, a webhook that does not answer. Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go
 * and pkg/admission/plugin/webhook/errors, kubernetes plugin/pkg/admission/serviceaccount.
 */
const PASSING = /exceeded quota: |error looking up service account|Internal error occurred/;

/**
 * Since when pods of a Deployment or ReplicaSet are refused for what does not pass. Told is the first refusal of a
 * series (kubernetes pkg/controller/replicaset/replica_set_utils.go, calculateStatus).
 */
export function refusedSince(conditions: readonly Condition[] | undefined): EpochMillis | undefined {
  const condition = listOf(conditions, 'status.conditions').find(({ type }) => type === 'ReplicaFailure');
  if (condition?.status !== 'True' || condition.reason !== 'FailedCreate') return undefined;
  if (condition.message === undefined || PASSING.test(condition.message)) return undefined;
  return instant(condition.lastTransitionTime, 'status.conditions[ReplicaFailure].lastTransitionTime');
}

/** `spec.ordinals` (KEP-3335) is newer than the published types of some versions. */
function ordinalsOf(spec: object | undefined): { readonly start?: unknown } | undefined {
  const { ordinals } = (spec ?? {}) as { readonly ordinals?: { readonly start?: unknown } };
  return ordinals;
}

function availableOf(status: object | undefined): unknown {
  const { availableReplicas } = (status ?? {}) as { readonly availableReplicas?: unknown };
  return availableReplicas;
}
