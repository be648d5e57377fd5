/**
 * Raises by new pods that no node has room for: the rollout hangs, with the pods that it has taken away. With what they
 * had before there was room for as many as ran.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isLive } from '../../model/owners.ts';
import { type SizeChange, sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { type Harm, startPatience } from './judge-change.ts';
import { requestOf } from './recommend-workload.ts';
import { onlyParts, partsOf } from './side-by-side.ts';
import { includesPart, type SizedPart, type WatchedChange } from './watched-change.ts';

type Change = Pick<WatchedChange, 'changes' | 'before' | 'unready'>;

/** Within that time a scheduler looks at a new pod; later it does not, as of one that has scheduling gates. */
const LOOKED_AT_MILLIS: Millis = 60_000;

/**
 * Whether pods with more than before find no node, or are yet to be looked at: more of them than were not ready when it
 * began, for which there may have been no room before.
 */
export function isWaitingForRoom(change: Change, pods: readonly SizedPod[], now: EpochMillis): boolean {
  const waiting = raisedPods(change, pods).filter(
    ({ pod: { nodeName, unschedulableSince, createdAt } }) =>
      nodeName === undefined && (unschedulableSince !== undefined || now - createdAt < LOOKED_AT_MILLIS),
  );
  return waiting.length > change.unready.size;
}

/**
 * @param pods all of the workload.
 * @returns undefined where all find a node, where as many were not ready when it began, and until for as long as a new pod
 * is waited for, see `startPatience`, none has found one and none has got ready.
 */
export function lackOfRoom(
  change: Change & Pick<WatchedChange, 'startedAt'>,
  pods: readonly SizedPod[],
  now: EpochMillis,
): Harm | undefined {
  if (!isWaitingForRoom(change, pods, now)) return undefined;
  const raised = raisedPods(change, pods);
  const unplaced = raised.flatMap(({ pod: { name, nodeName, unschedulableSince: since } }) =>
    nodeName !== undefined || since === undefined ? [] : [{ name, since }],
  );
  const [first] = unplaced.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return undefined;
  const readyAt = raised.flatMap(({ pod: { ready, readyChangedAt } }) =>
    ready && readyChangedAt !== undefined ? [readyChangedAt] : [],
  );
  if (now - Math.max(change.startedAt, first.since, ...readyAt) < startPatience(pods)) return undefined;
  const cause = `no node has room for pod ${first.name} since ${new Date(first.since).toISOString()}`;
  return { parts: raisedParts(change), cause };
}

/** Limits take no room. */
function raisedParts({ changes, before }: Pick<Change, 'changes' | 'before'>): readonly SizedPart[] {
  return partsOf(changes).filter(({ container, resource }) => {
    const had = sizeOfContainer(before, container) ?? {};
    const to = changes.find((change) => change.container === container)?.to;
    return (requestOf(resource, { ...had, ...to }) ?? 0) > (requestOf(resource, had) ?? 0);
  });
}

function raisedPods(change: Pick<Change, 'changes' | 'before'>, pods: readonly SizedPod[]): readonly SizedPod[] {
  const parts = raisedParts(change);
  const raised = onlyParts(change.changes, (part) => includesPart(parts, part));
  if (raised.length === 0) return [];
  return pods.filter((each) => isLive(each.pod) && raised.every((own) => has(each, own)));
}

function has({ sizing }: SizedPod, { container, to }: SizeChange): boolean {
  const size = sizeOfContainer(sizing.containers, container);
  return size !== undefined && sizeKeys.every((key) => to[key] === undefined || to[key] === size[key]);
}
