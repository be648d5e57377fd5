/** Annotations of the rightsizing engine, on workloads and on pods: the keys OptiPod writes, and those it lacks. */
import { createHash } from 'node:crypto';
import type { Labels } from './label-selector.ts';

const PREFIX = 'optipod.io/';

export const rightsizingKeys = {
  /** On workloads, `true` while a policy has advice for it. */
  managed: `${PREFIX}managed`,
  /** Name of that policy. */
  policy: `${PREFIX}policy`,
  /** RFC 3339. */
  lastRecommendation: `${PREFIX}last-recommendation`,
  /** RFC 3339. */
  lastApplied: `${PREFIX}last-applied`,
  /** On workloads: the sizes that pods have in place of the template's; see model/applied-sizes.ts. */
  appliedSizes: `${PREFIX}applied-sizes`,
  /** On workloads: the sizes that replicas have each for itself; see model/replica-sizes.ts. */
  replicaSizes: `${PREFIX}replica-sizes`,
  /** On workloads: what earlier decreases have shown to be too little; see model/learned-floors.ts. */
  learnedFloors: `${PREFIX}learned-floors`,
  /** On workloads: changes that may yet be taken back; see model/watched-changes.ts. */
  watchedChanges: `${PREFIX}watched-changes`,
  /** On pods: admitted with the sizes of `applied-sizes`. */
  applied: `${PREFIX}applied`,
  /** On workloads, written by people: `true` keeps rightsizing from changing anything. */
  paused: `${PREFIX}paused`,
} as const;

export type RecommendedField = 'cpu-request' | 'memory-request' | 'cpu-limit' | 'memory-limit';

/** Kubernetes takes 63 characters after the slash; the longest around a container's name is `recommendation.` and `.memory-request`. */
const MAX_CONTAINER_LENGTH = 63 - 'recommendation.'.length - '.memory-request'.length;
const HASH_LENGTH = 8;

/** OptiPod's key; a container name too long for one is cut and made unique by a hash. */
export function recommendationKey(container: string, field: RecommendedField): string {
  return `${PREFIX}recommendation.${shorten(container)}.${field}`;
}

/** Whether somebody paused rightsizing of the workload: with exactly `true`. */
export function isPaused(annotations: Labels): boolean {
  return annotations[rightsizingKeys.paused] === 'true';
}

/** Whether rightsizing wrote the annotation and takes it away when it is done with the workload. */
export function isWrittenByRightsizing(key: string): boolean {
  if (key.startsWith(`${PREFIX}recommendation.`)) return true;
  const { paused: _, applied: __, ...own } = rightsizingKeys;
  return Object.values<string>(own).includes(key);
}

/** Whether OptiPod writes the annotation as well: by the key nobody can tell whose it is. */
export function isWrittenByOptipod(key: string): boolean {
  const { managed, policy, lastRecommendation } = rightsizingKeys;
  return key.startsWith(`${PREFIX}recommendation.`) || [managed, policy, lastRecommendation].some((own) => own === key);
}

function shorten(container: string): string {
  if (container.length <= MAX_CONTAINER_LENGTH) return container;
  const hash = createHash('sha256').update(container).digest('hex').slice(0, HASH_LENGTH);
  return `${container.slice(0, MAX_CONTAINER_LENGTH - HASH_LENGTH - 1)}-${hash}`;
}
