/** Stand-in of the Deployment controller: moves pods from old ReplicaSets to the one of the present template. */
import type { Deployment, ReplicaSet } from '../../../api/core.ts';
import { isAlreadyExists, isNotFound, unless } from '../../../api/kube-error.ts';
import { resources } from '../../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../../kube/queue.ts';
import { byController } from '../../caches.ts';
import { patchesOf } from '../../object-patches.ts';
import { controllerOf, findCondition, isSameStatus, keyOf, nameOf, namespaceOf, uidOf } from '../../objects.ts';
import { isFinished } from '../../pod-state.ts';
import type { StandIn, StandInContext } from '../../stand-in.ts';
import { replaceStatus } from '../replace-status.ts';
import { deploymentStatus, isComplete, progressDeadlineAt } from './deployment-status.ts';
import {
  byCreation,
  findNewSet,
  isSaturated,
  isScalingEvent,
  newReplicaSet,
  REVISION_ANNOTATION,
  revisionOf,
  setAnnotations,
  sizeAnnotations,
  sizeOf,
} from './revisions.ts';
import {
  proportionalSizes,
  type RollingBounds,
  rollingBounds,
  rollingUpdateStep,
  type SizeChanges,
} from './rolling-update.ts';

const WORKERS = 5;
const DEFAULT_HISTORY = 10;

/** A Deployment with its ReplicaSets, as one pass sees them. */
interface Rollout {
  readonly deployment: Deployment;
  readonly sets: readonly ReplicaSet[];
  readonly newSet: ReplicaSet | undefined;
  readonly oldSets: readonly ReplicaSet[];
  readonly bounds: RollingBounds;
}

/** A pass takes one step at most: the next one is taken on what the first has led to. */
export function createDeploymentController({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'deployment-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const deployments = caches.of(resources.deployments);
  const replicaSets = caches.of(resources.replicaSets);
  const setsOfController = byController(replicaSets);
  const deploymentPatches = patchesOf(api, resources.deployments);
  const setPatches = patchesOf(api, resources.replicaSets);

  deployments.onChange((before, after) => {
    const deployment = after ?? before;
    if (deployment !== undefined) queue.add(keyOf(deployment));
  });
  replicaSets.onChange((before, after) => {
    const set = after ?? before;
    const owner = set === undefined ? undefined : controllerOf(set);
    if (set !== undefined && owner?.kind === 'Deployment') queue.add(`${namespaceOf(set)}/${owner.name}`);
  });
  // Recreate waits for the last old pod, whose end changes no ReplicaSet's status.
  caches.of(resources.pods).onChange((before, after) => {
    const owner = before !== undefined && after === undefined ? controllerOf(before) : undefined;
    if (before === undefined || owner?.kind !== 'ReplicaSet') return;
    const set = replicaSets.get(`${namespaceOf(before)}/${owner.name}`);
    const parent = set === undefined ? undefined : controllerOf(set);
    const deployment = parent === undefined ? undefined : deployments.get(`${namespaceOf(before)}/${parent.name}`);
    if (deployment?.spec?.strategy?.type === 'Recreate') queue.add(keyOf(deployment));
  });

  const sync = async (key: string): Promise<HandlerResult> => {
    const deployment = deployments.get(key);
    if (deployment === undefined) return undefined;
    const rollout = rolloutOf(deployment, [...setsOfController(deployment)]);
    if (deployment.metadata?.deletionTimestamp !== undefined) return writeStatus(rollout);
    if (deployment.spec?.paused === true || isScalingEvent(deployment, rollout.sets)) {
      await resize(rollout, scaledSizes(rollout));
      return writeStatus(rollout);
    }
    return deployment.spec?.strategy?.type === 'Recreate' ? recreate(rollout) : rollForward(rollout);
  };

  const rollForward = async (rollout: Rollout): Promise<HandlerResult> => {
    const { newSet, oldSets, bounds } = rollout;
    if (newSet === undefined) return createNewSet(rollout);
    await markRevision(rollout, newSet);
    const sizes = rollingUpdateStep(bounds, sizeOf(newSet), oldSets.map(sizeOf));
    if (sizes.size > 0) await resize(rollout, sizes);
    else await pruneHistory(rollout);
    return writeStatus(rollout);
  };

  const recreate = async (rollout: Rollout): Promise<HandlerResult> => {
    const { newSet, oldSets, bounds } = rollout;
    const running = oldSets.filter((set) => (set.spec?.replicas ?? 0) > 0);
    if (running.length > 0) {
      await resize(rollout, new Map(running.map((set) => [nameOf(set), 0])));
      return writeStatus(rollout);
    }
    const isOldPodLeft = oldSets.some((set) => [...caches.podsOfController(set)].some((pod) => !isFinished(pod)));
    if (isOldPodLeft) return writeStatus(rollout);
    if (newSet === undefined) return createNewSet(rollout);
    await markRevision(rollout, newSet);
    if (newSet.spec?.replicas !== bounds.replicas) await resize(rollout, new Map([[nameOf(newSet), bounds.replicas]]));
    else await pruneHistory(rollout);
    return writeStatus(rollout);
  };

  const createNewSet = async (rollout: Rollout): Promise<HandlerResult> => {
    const { deployment, oldSets, bounds } = rollout;
    const revision = Math.max(0, ...oldSets.map(revisionOf)) + 1;
    const isRecreate = deployment.spec?.strategy?.type === 'Recreate';
    const empty = { name: '', replicas: 0, available: 0, createdAt: 0, annotatedMaxReplicas: undefined };
    const first = isRecreate ? bounds.replicas : (rollingUpdateStep(bounds, empty, oldSets.map(sizeOf)).get('') ?? 0);
    const set = newReplicaSet(deployment, revision, first, bounds);
    const call = { namespace: namespaceOf(deployment) };
    const created = await unless(isAlreadyExists, api.create(resources.replicaSets, set, call));
    if (created === undefined) return avoidCollision(deployment, set);
    await markDeployment(deployment, revision);
    return writeStatus(rolloutOf(deployment, [...oldSets, created]), true);
  };

  /** The hash of another template led to the same name: count up, which makes another hash, and try again. */
  const avoidCollision = async (deployment: Deployment, set: ReplicaSet): Promise<HandlerResult> => {
    const holder = replicaSets.get(keyOf(set));
    if (holder === undefined || controllerOf(holder)?.uid === uidOf(deployment)) return { requeueAfterMillis: 1000 };
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    const body = { metadata: { resourceVersion: deployment.metadata?.resourceVersion }, status: { collisionCount } };
    await deploymentPatches.status(deployment, body);
    return undefined;
  };

  /** A rollback makes an old set the newest revision again. */
  const markRevision = async ({ deployment, oldSets }: Rollout, newSet: ReplicaSet): Promise<void> => {
    const revision = Math.max(revisionOf(newSet), Math.max(0, ...oldSets.map(revisionOf)) + 1);
    const annotations = setAnnotations(deployment, revision);
    const current = newSet.metadata?.annotations ?? {};
    const isCurrent = Object.entries(annotations).every(([key, value]) => current[key] === value);
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
    if (!isCurrent || (newSet.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
      await setPatches.merge(newSet, { metadata: { annotations }, spec: { minReadySeconds } });
    }
    await markDeployment(deployment, revision);
  };

  const markDeployment = async (deployment: Deployment, revision: number): Promise<void> => {
    const annotations = { [REVISION_ANNOTATION]: String(revision) };
    if (deployment.metadata?.annotations?.[REVISION_ANNOTATION] === annotations[REVISION_ANNOTATION]) return;
    await deploymentPatches.merge(deployment, { metadata: { annotations } });
  };

  const resize = async ({ sets, bounds }: Rollout, sizes: SizeChanges): Promise<void> => {
    const annotations = sizeAnnotations(bounds);
    for (const set of sets) {
      const replicas = sizes.get(nameOf(set));
      const isAnnotated = Object.entries(annotations).every(
        ([key, value]) => set.metadata?.annotations?.[key] === value,
      );
      const mustAnnotate = !isAnnotated && (set.spec?.replicas ?? 0) > 0;
      if (replicas === undefined && !mustAnnotate) continue;
      const metadata = { annotations, resourceVersion: set.metadata?.resourceVersion };
      await setPatches.merge(set, replicas === undefined ? { metadata } : { metadata, spec: { replicas } });
    }
  };

  /** Deletes the oldest empty sets beyond `revisionHistoryLimit`, once the rollout is complete. */
  const pruneHistory = async ({ deployment, oldSets }: Rollout): Promise<void> => {
    const { status } = deployment;
    const counts = {
      replicas: status?.replicas ?? 0,
      updatedReplicas: status?.updatedReplicas ?? 0,
      availableReplicas: status?.availableReplicas ?? 0,
    };
    if (!isComplete(deployment, counts)) return;
    const disposable = oldSets.filter(
      (set) =>
        (set.spec?.replicas ?? 0) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        set.metadata?.deletionTimestamp === undefined &&
        (set.status?.observedGeneration ?? 0) >= (set.metadata?.generation ?? 0),
    );
    const excess = oldSets.length - (deployment.spec?.revisionHistoryLimit ?? DEFAULT_HISTORY);
    const oldest = disposable.sort((left, right) => revisionOf(left) - revisionOf(right) || byCreation(left, right));
    for (const set of oldest.slice(0, Math.max(0, excess))) {
      const call = { namespace: namespaceOf(set), uid: uidOf(set) };
      await unless(isNotFound, api.delete(resources.replicaSets, nameOf(set), call));
    }
  };

  /** Status from what the caches hold now: earlier steps of this pass may have changed it. */
  const writeStatus = async (rollout: Rollout, created = false): Promise<HandlerResult> => {
    const key = keyOf(rollout.deployment);
    const deployment = deployments.get(key);
    if (deployment === undefined || uidOf(deployment) !== uidOf(rollout.deployment)) return undefined;
    const { sets, newSet, bounds } = created ? rollout : rolloutOf(deployment, [...setsOfController(deployment)]);
    const nowMillis = clock.now();
    const input = { deployment, newSet, sets, maxUnavailable: bounds.maxUnavailable, created, nowMillis };
    const status = deploymentStatus(input);
    if (!isSameStatus(deployment.status, status)) {
      await replaceStatus(api, resources.deployments, { ...deployment, status });
    }
    const deadline = progressDeadlineAt(deployment, findCondition(status.conditions, 'Progressing'));
    return deadline === undefined ? undefined : { requeueAfterMillis: Math.max(1000, deadline - nowMillis) };
  };

  return { name, run: (signal) => queue.run(WORKERS, sync, signal) };
}

function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const newSet = findNewSet(deployment, sets);
  const { rollingUpdate } = deployment.spec?.strategy ?? {};
  const replicas = deployment.spec?.replicas ?? 1;
  const bounds =
    deployment.spec?.strategy?.type === 'Recreate'
      ? { replicas, maxSurge: 0, maxUnavailable: 0 }
      : rollingBounds(replicas, rollingUpdate?.maxSurge, rollingUpdate?.maxUnavailable);
  return { deployment, sets, newSet, oldSets: sets.filter((set) => set !== newSet), bounds };
}

/** Sizes after a change of `spec.replicas`. Source: pkg/controller/deployment/sync.go `scale`. */
function scaledSizes({ deployment, sets, newSet, oldSets, bounds }: Rollout): SizeChanges {
  const active = sets.filter((set) => (set.spec?.replicas ?? 0) > 0);
  const only =
    active.length === 1
      ? active[0]
      : active.length === 0
        ? (newSet ?? [...oldSets].sort(byCreation).at(-1))
        : undefined;
  if (only !== undefined) {
    return only.spec?.replicas === bounds.replicas ? new Map() : new Map([[nameOf(only), bounds.replicas]]);
  }
  if (isSaturated(deployment, newSet)) {
    return new Map(oldSets.filter((set) => (set.spec?.replicas ?? 0) > 0).map((set) => [nameOf(set), 0]));
  }
  if (deployment.spec?.strategy?.type === 'Recreate') return new Map();
  return proportionalSizes(bounds, active.map(sizeOf), deployment.status?.replicas ?? 0);
}
