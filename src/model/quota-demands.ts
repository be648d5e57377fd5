/**
 * What quotas want every container to say. Checked of the whole pod at each resize, also of one that gives something
 * back: a pod that was made before such a quota cannot be resized at all.
 * Source: kubernetes pkg/quota/v1/evaluator/core/pods.go (Constraints), admission/plugin/resourcequota (CheckRequest).
 */
import { sizeKeys, sizePaths } from './pod-size.ts';
import { type QuotaSubject, surelyCountsIn } from './quota-scopes.ts';
import type { ContainerSpecRecord, QuotaRecord } from './sizing-records.ts';

export interface UnmetDemand {
  /** Of the quota. */
  readonly name: string;
  /** As quotas name it: `limits.cpu`. */
  readonly resource: string;
  /** Names of the containers that have none. */
  readonly containers: string;
}

/**
 * The first amount that a quota counts and some container does not have, be it none of what is changed; undefined where
 * all is said. Containers that run once before the others are asked, too, and have no record.
 */
export function unmetDemand(
  quotas: readonly QuotaRecord[],
  pod: QuotaSubject,
  containers: readonly Pick<ContainerSpecRecord, 'name' | 'size'>[],
): UnmetDemand | undefined {
  for (const { name, hard, scopes } of quotas) {
    // Of a scope that is not known nobody can say whom it means: the server may take the resize.
    if (!surelyCountsIn(scopes, pod)) continue;
    for (const key of sizeKeys) {
      const silent = hard[key] === undefined ? [] : containers.filter(({ size }) => size[key] === undefined);
      if (silent.length === 0) continue;
      const { list, resource } = sizePaths[key];
      return { name, resource: `${list}.${resource}`, containers: silent.map((each) => each.name).join(', ') };
    }
  }
  return undefined;
}
