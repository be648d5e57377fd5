/**
 * Pods of a rollout that do not get ready with a lower CPU limit than their template says. What is enough to run may be
 * too little to start, and no advice asks for more: the use of a start is left out of a container's CPU.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import { wasJustKilled } from '../../model/recent-kill.ts';
import { unreadySince } from '../../model/rollout.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { type Harm, startPatience } from './judge-change.ts';

export interface StarvedStart {
  /** What turns the CPU of the template into what is in force. */
  readonly changes: readonly SizeChange[];
  /** What of it is too little. */
  readonly harm: Harm;
}

/** A pod that becomes unready later than this has been ready before: it has started. */
const NEVER_READY_MILLIS: Millis = 60_000;

/**
 * @param pods those that run. Where none of them is ready, it is rather something that all of them wait for.
 * @returns undefined where nothing is seen of the kind.
 */
export function starvedStart(
  template: readonly ContainerSpecRecord[],
  inForce: readonly ContainerSpecRecord[],
  pods: readonly SizedPod[],
  now: EpochMillis,
): StarvedStart | undefined {
  const changes = template.flatMap((container) => lessCpu(container, inForce));
  if (changes.length === 0 || !pods.some(({ pod }) => pod.ready)) return undefined;
  const patience = startPatience(pods);
  for (const each of pods) {
    const { pod } = each;
    const since = unreadySince(pod);
    if (pod.ready || since - pod.createdAt > NEVER_READY_MILLIS || now - since < patience) continue;
    const slow = changes.filter((change) => isStarting(each, change, now));
    const [first] = slow;
    if (first === undefined) continue;
    const cause = `container ${first.container} of pod ${pod.name} does not get ready with a lower CPU limit than its template says`;
    return { changes, harm: { parts: slow.map(({ container }) => ({ container, resource: 'cpu' })), cause } };
  }
  return undefined;
}

function lessCpu({ name, size }: ContainerSpecRecord, inForce: readonly ContainerSpecRecord[]): readonly SizeChange[] {
  const { cpuRequest, cpuLimit } = sizeOfContainer(inForce, name) ?? {};
  if (cpuLimit === undefined || cpuLimit >= (size.cpuLimit ?? 0)) return [];
  const isLess = cpuRequest !== undefined && cpuRequest < (size.cpuRequest ?? 0);
  return [{ container: name, to: { ...(isLess && { cpuRequest }), cpuLimit } }];
}

/** It has what is in force, and what keeps it from being ready is not memory. */
function isStarting({ sizing }: SizedPod, { container, to }: SizeChange, now: EpochMillis): boolean {
  const status = sizing.statuses.find(({ name }) => name === container);
  const has = sizeOfContainer(sizing.containers, container)?.cpuLimit;
  return status !== undefined && !status.ready && !wasJustKilled(status, now) && has === to.cpuLimit;
}
