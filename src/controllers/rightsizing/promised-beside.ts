/**
 * What others are yet to take of the quotas of a namespace. Sizes are in force, or tried on a first pod, long before
 * all pods have them, and a pod that is replaced is born with them: promised twice, the room would be missing for it.
 * And without room for one pod more no rollout begins that must not take one away first.
 */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { yetToTake } from '../../decide/rightsizing/held-of-quota.ts';
import type { PromisedUse, QuotaPromises } from '../../decide/rightsizing/joint-fit.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import { givenBack } from '../../model/awaited-pods.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { mostOfAll, readReplicaSizes, stateOfPod } from '../../model/replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaGrowth, quotaUse, withLimitDefaults } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { WorkloadMemory } from './memory.ts';
import type { RightsizingParts } from './parts.ts';

export interface PromisedBesideOptions extends Pick<RightsizingParts, 'isAllocated' | 'clock'> {
  readonly view: Pick<SizingView, 'workloads' | 'podsOf' | 'limitRanges'>;
  /** Undefined where sizes are not being applied to it. */
  readonly actingOn: (workloadUid: string) => Pick<WorkloadMemory, 'watches'> | undefined;
  /** Of rightsizing, under way. */
  readonly resizes: () => readonly InFlightResize[];
}

/** An entry for each other workload of this one's namespace that is being sized, and one for a rollout. */
type PromisedBeside = (workload: Pick<SizedWorkload, 'namespace' | 'uid'>) => QuotaPromises;

export function createPromisedBeside(options: PromisedBesideOptions): PromisedBeside {
  const { view, actingOn, isAllocated, resizes, clock } = options;
  const surgeOf = ({ namespace, containers }: SizedWorkload): QuotaUse =>
    quotaGrowth([], withLimitDefaults(view.limitRanges(namespace), containers), []);
  return ({ namespace, uid }) => {
    const now = clock.now();
    const asked = new Map(resizes().map(({ pod, changes }) => [pod.uid, changes]));
    const promised: PromisedUse[] = [];
    let [surge, returning] = [noUse, noUse];
    for (const workload of view.workloads()) {
      if (workload.namespace !== namespace) continue;
      if (workload.needsSurge === true && workload.replicas > 0) surge = mostOfBoth(surge, surgeOf(workload));
      if (workload.uid === uid) continue;
      const pods = view.podsOf(workload);
      returning = addUse(returning, givenBack(workload, pods, { isGoing: () => false, now }));
      const memory = actingOn(workload.uid);
      if (memory === undefined) continue;
      const { annotations, containers } = workload;
      const states = readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers);
      const written = withAppliedSizes(containers, readAppliedSizes(annotations[rightsizingKeys.appliedSizes]));
      // Also what is only on its way to the first pod: whose answer is waited for is in no memory yet.
      const onTheirWay = pods.flatMap(({ pod }) => {
        const changes = asked.get(pod.uid) ?? [];
        return changes.length > 0 && stateOfPod(states, workload, pod) !== undefined ? [] : changes;
      });
      const begun = [...memory.watches.ongoing.flatMap(({ changes }) => changes), ...onTheirWay];
      const sizes = atLeast(written, begun);
      promised.push(yetToTake({ workload, sizes, states, isAllocated, now }, pods));
    }
    return { promised: surge === noUse ? promised : [...promised, onePod(surge)], returning };
  };
}

/** With more than its template says no pod is made where a quota has no room for that. */
function onePod(each: QuotaUse): PromisedUse {
  const awaited = { count: 1, each, least: each, returning: noUse, like: undefined };
  return { growth: noUse, awaited, like: undefined };
}

function mostOfBoth(left: QuotaUse, right: QuotaUse): QuotaUse {
  return quotaUse((key) => Math.max(left[key], right[key]));
}

/** The containers with whatever the changes have more of. */
function atLeast(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): readonly ContainerSpecRecord[] {
  const sizes = changes.map(
    ({ container, to }, index) => [String(index), { sizes: new Map([[container, to]]) }] as const,
  );
  return mostOfAll(containers, new Map(sizes));
}
