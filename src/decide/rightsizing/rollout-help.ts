/**
 * What pods may be given in the middle of a rollout (adr/0033). Pods of two templates stand side by side then, so all
 * that has to be judged waits. But a rollout may be stuck because its pods have too little: whatever goes up, where harm
 * is seen, does not wait for an end that would never come.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import { wasJustKilled } from '../../model/recent-kill.ts';
import { unreadySince } from '../../model/rollout.ts';
import { sizeManagers } from '../../model/size-managers.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { mayBegin, onlyParts, partsOf } from './side-by-side.ts';
import { includesPart, keysOf, loweredResources, type SizedPart } from './watched-change.ts';

/** A pod that is not ready for so long does not get on: what a Deployment waits for a new pod where it does not say. */
const STARVING_MILLIS: Millis = 600_000;

export interface RolloutHelp {
  /** Of what is due, what is raised: for all pods that the workload has and will have. */
  readonly raises: readonly SizeChange[];
  /** The pods that show that it is needed: they have what is in force, or more by us, and it is too little. */
  readonly pods: readonly SizedPod[];
}

/**
 * What of a pod has too little, as far as that is seen: memory of a container that was just killed for want of it, and
 * both resources of one that runs and that has not got ready for long.
 */
export function harmedParts({ pod, sizing }: SizedPod, now: EpochMillis): readonly SizedPart[] {
  if (pod.deletingAt !== undefined) return [];
  const isLate = !pod.ready && now - unreadySince(pod) >= STARVING_MILLIS;
  return sizing.statuses.flatMap((status): readonly SizedPart[] => {
    const { name: container, running, ready } = status;
    const memory: SizedPart = { container, resource: 'memory' };
    if (isLate && running && !ready) return [{ container, resource: 'cpu' }, memory];
    return wasJustKilled(status, now) ? [memory] : [];
  });
}

/** @param due what would be changed if there were no rollout. */
export function helpInRollout(
  due: readonly SizeChange[],
  inForce: readonly ContainerSpecRecord[],
  pods: readonly SizedPod[],
  now: EpochMillis,
): RolloutHelp {
  const { raises } = mayBegin(due, inForce, []);
  const wanted = partsOf(raises);
  const proofs = pods.flatMap((pod) => {
    const parts = harmedParts(pod, now).filter(
      (part) => includesPart(wanted, part) && showsOfInForce(pod, inForce, part),
    );
    return parts.length === 0 ? [] : [{ pod, parts }];
  });
  const proven = proofs.flatMap(({ parts }) => parts);
  return { raises: onlyParts(raises, (part) => includesPart(proven, part)), pods: proofs.map(({ pod }) => pod) };
}

/** Of what a pod lacks of the sizes in force, what it is given during a rollout. */
export function givenInRollout(pod: SizedPod, changes: readonly SizeChange[], now: EpochMillis): readonly SizeChange[] {
  const harmed = harmedParts(pod, now);
  const { containers } = pod.sizing;
  return onlyParts(
    changes,
    (part) =>
      includesPart(harmed, part) &&
      !changes.some(
        (change) => change.container === part.container && loweredResources(change, containers).includes(part.resource),
      ),
  );
}

/** The pod shows that it had too little of all that is changed. */
export function isHarmedInAll(pod: SizedPod, changes: readonly SizeChange[], now: EpochMillis): boolean {
  const harmed = harmedParts(pod, now);
  return partsOf(changes).every((part) => includesPart(harmed, part));
}

/**
 * A pod of another template, or one that was not sized at admission, says nothing about what is in force. One that we
 * gave more of it says that this is too little as well: whoever led then had no time to put it in force.
 */
function showsOfInForce({ sizing }: SizedPod, inForce: readonly ContainerSpecRecord[], part: SizedPart): boolean {
  const wanted = sizeOfContainer(inForce, part.container) ?? {};
  const has = sizeOfContainer(sizing.containers, part.container);
  if (has === undefined) return false;
  const isOurs = sizing.sizeManagers.includes(sizeManagers.rightsizing);
  return keysOf[part.resource].every((key) => {
    const [amount, inForceNow] = [has[key], wanted[key]];
    if (inForceNow === undefined || amount === inForceNow) return true;
    return isOurs && amount !== undefined && amount > inForceNow;
  });
}
