/** A Deployment's status and its conditions Available and Progressing. Pure. */
import type { Deployment, ReplicaSet } from '../../../api/core.ts';
import { findCondition, nameOf, timeOf, timestampOf, withCondition } from '../../objects.ts';

export type DeploymentStatus = NonNullable<Deployment['status']>;
type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];

export interface StatusInput {
  readonly deployment: Deployment;
  readonly newSet: ReplicaSet | undefined;
  /** Every ReplicaSet of the Deployment, the new one included. */
  readonly sets: readonly ReplicaSet[];
  readonly maxUnavailable: number;
  /** Set in the pass that created the new ReplicaSet. */
  readonly created: boolean;
  readonly nowMillis: number;
}

/** The status as it should be. Fields and reasons: pkg/controller/deployment/progress.go and sync.go `calculateStatus`. */
export function deploymentStatus(input: StatusInput): DeploymentStatus {
  const { deployment, newSet, sets } = input;
  const total = (read: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((sum, set) => sum + (read(set) ?? 0), 0);
  const replicas = total((set) => set.status?.replicas);
  const availableReplicas = total((set) => set.status?.availableReplicas);
  const counts = {
    replicas,
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: total((set) => set.status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, total((set) => set.spec?.replicas) - availableReplicas),
  };
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    ...counts,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: conditionsOf(input, counts),
  };
}

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
}

function conditionsOf(input: StatusInput, counts: Counts): DeploymentCondition[] {
  const { deployment, maxUnavailable } = input;
  const enough = counts.availableReplicas >= desiredReplicas(deployment) - maxUnavailable;
  let conditions = put(input, deployment.status?.conditions ?? [], 'Available', enough, {
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: enough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  });
  conditions = progressing(input, counts, conditions);
  return replicaFailure(input, conditions);
}

function progressing(input: StatusInput, counts: Counts, conditions: DeploymentCondition[]): DeploymentCondition[] {
  const { deployment, newSet } = input;
  const subject = newSet === undefined ? `Deployment "${nameOf(deployment)}"` : `ReplicaSet "${nameOf(newSet)}"`;
  const current = findCondition(conditions, 'Progressing');
  if (deployment.spec?.paused === true) {
    if (current?.reason === 'DeploymentPaused' || current?.reason === 'ProgressDeadlineExceeded') return conditions;
    return put(input, conditions, 'Progressing', 'Unknown', {
      reason: 'DeploymentPaused',
      message: 'Deployment is paused',
    });
  }
  if (current?.reason === 'DeploymentPaused') {
    return put(input, conditions, 'Progressing', 'Unknown', {
      reason: 'DeploymentResumed',
      message: 'Deployment is resumed',
    });
  }
  if (isComplete(deployment, counts)) {
    return put(input, conditions, 'Progressing', true, {
      reason: 'NewReplicaSetAvailable',
      message: `${subject} has successfully progressed.`,
    });
  }
  if (input.created && newSet !== undefined) {
    return put(input, conditions, 'Progressing', true, {
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${nameOf(newSet)}"`,
    });
  }
  if (hasProgressed(deployment.status, counts)) {
    return put(input, conditions, 'Progressing', true, {
      reason: 'ReplicaSetUpdated',
      message: `${subject} is progressing.`,
    });
  }
  if (deadlinePassed(deployment, current, input.nowMillis)) {
    return put(input, conditions, 'Progressing', false, {
      reason: 'ProgressDeadlineExceeded',
      message: `${subject} has timed out progressing.`,
    });
  }
  return conditions;
}

export function isComplete(deployment: Deployment, counts: Counts): boolean {
  const desired = desiredReplicas(deployment);
  return counts.updatedReplicas === desired && counts.replicas === desired && counts.availableReplicas === desired;
}

function hasProgressed(before: DeploymentStatus | undefined, now: Counts): boolean {
  const oldBefore = (before?.replicas ?? 0) - (before?.updatedReplicas ?? 0);
  return (
    now.updatedReplicas > (before?.updatedReplicas ?? 0) ||
    now.replicas - now.updatedReplicas < oldBefore ||
    now.availableReplicas > (before?.availableReplicas ?? 0)
  );
}

/** A finished rollout that later loses pods is not late: its condition keeps the reason NewReplicaSetAvailable. */
function deadlinePassed(deployment: Deployment, current: DeploymentCondition | undefined, nowMillis: number): boolean {
  if (current === undefined || current.reason === 'NewReplicaSetAvailable') return false;
  if (current.reason === 'ProgressDeadlineExceeded') return true;
  const deadline = progressDeadlineAt(deployment, current);
  return deadline !== undefined && nowMillis >= deadline;
}

/** When the rollout counts as stuck unless something moves before; undefined when it cannot. */
export function progressDeadlineAt(
  deployment: Deployment,
  current: DeploymentCondition | undefined,
): number | undefined {
  if (current === undefined || current.reason === 'NewReplicaSetAvailable') return undefined;
  if (current.reason === 'ProgressDeadlineExceeded' || deployment.spec?.paused === true) return undefined;
  const since = timeOf(current.lastUpdateTime);
  return since === undefined ? undefined : since + (deployment.spec?.progressDeadlineSeconds ?? 600) * 1000;
}

function replicaFailure(input: StatusInput, conditions: DeploymentCondition[]): DeploymentCondition[] {
  const others = input.sets.filter((set) => set !== input.newSet);
  const ordered = input.newSet === undefined ? others : [input.newSet, ...others];
  const failure = ordered
    .map((set) => findCondition(set.status?.conditions, 'ReplicaFailure'))
    .find((found) => found !== undefined);
  if (failure === undefined) return conditions.filter((condition) => condition.type !== 'ReplicaFailure');
  const { reason = 'FailedCreate', message = '' } = failure;
  return put(input, conditions, 'ReplicaFailure', true, { reason, message });
}

function put(
  input: StatusInput,
  conditions: DeploymentCondition[],
  type: string,
  status: boolean | 'Unknown',
  text: { reason: string; message: string },
): DeploymentCondition[] {
  const now = timestampOf(input.nowMillis);
  const word = status === 'Unknown' ? status : status ? 'True' : 'False';
  const previous = findCondition(conditions, type);
  // Progress restarts the deadline's clock even when the words stay the same; the other conditions stay untouched.
  const isProgress = type === 'Progressing' && text.reason === 'ReplicaSetUpdated';
  if (previous?.status === word && previous.reason === text.reason && !isProgress) {
    return previous.message === text.message
      ? conditions
      : withCondition(conditions, { ...previous, ...text, lastUpdateTime: now });
  }
  return withCondition(conditions, { type, status: word, ...text, lastUpdateTime: now, lastTransitionTime: now });
}

function desiredReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1;
}
