/**
 * Whether a decrease did harm: out of memory, restarts, pods that are no longer ready, or a quota of CPU that
 * throttles, soon after and where it was made (rightsizing bug 20: a crash loop after a decrease lasted twelve hours).
 * Raises are not judged: what goes wrong after one is somebody else's doing.
 */
import { percentText } from '../../lib/percent-text.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import {
  includesPart,
  loweredResources,
  lowersCpuLimit,
  type SizedPart,
  type WatchedChange,
} from './watched-change.ts';

/** A decrease that has to be taken back. */
export interface Harm {
  /** What it is put down to: resources that were lowered. */
  readonly parts: readonly SizedPart[];
  readonly cause: string;
}

/** Shares of the periods of CPU quota in which a container was held back, 0..1, of the pod where they are highest. */
export interface Throttling {
  /** In the minutes before the change. */
  readonly before: number;
  /** In the last minutes, all of them after it. */
  readonly now: number;
}

/** Undefined where one of the two is not known: then throttling is no sign of anything. */
export type ThrottlingOf = (container: string) => Throttling | undefined;

/**
 * A pod may be unready for a moment for reasons of its own; one whose container the change restarts has to end, which
 * may take all of its grace period, and to start first.
 */
const UNREADY_PATIENCE_MILLIS: Millis = 60_000;
const RESTART_PATIENCE_MILLIS: Millis = 300_000;
/** Where new pods bring the change, one that runs and is not ready for so long: what a Deployment gives it if it says nothing. */
const START_PATIENCE_MILLIS: Millis = 600_000;
/** Some take their time to start: a new one has so many times what the quickest of those that are ready took. */
const STARTS = 3;
/** Held back in a quarter of all periods, and in a fifth of them more often than before. */
const THROTTLED = 0.25;
const THROTTLING_JUMP = 0.2;

const unknown: ThrottlingOf = () => undefined;

/**
 * @param pods those that have the new size.
 * @param startMillis how long one that came later may take until it is ready; left out, any time.
 * @returns undefined while nothing bad is seen.
 */
export function judgeChange(
  watched: WatchedChange,
  pods: readonly SizedPod[],
  now: EpochMillis,
  throttlingOf: ThrottlingOf = unknown,
  startMillis: Millis = Number.POSITIVE_INFINITY,
): Harm | undefined {
  const lowered = watched.changes.flatMap((change) =>
    loweredResources(change, watched.before).map((resource): SizedPart => ({ container: change.container, resource })),
  );
  if (lowered.length === 0) return undefined;
  const harms = [
    ...pods.flatMap((pod) => harmsIn(pod, lowered, watched, startMillis, now)),
    ...throttled(watched, throttlingOf),
  ].filter(({ parts }) => parts.length > 0);
  const [first, ...more] = harms;
  if (first === undefined) return undefined;
  const parts = lowered.filter((part) => harms.some((harm) => includesPart(harm.parts, part)));
  const others = more.length === 0 ? '' : `, and ${more.length} more signs of it`;
  return { parts, cause: `${first.cause}${others}` };
}

/** How long a new pod is waited for where each brings the change. @param pods all of the workload. */
export function startPatience(pods: readonly SizedPod[]): Millis {
  const starts = pods.flatMap(({ pod: { ready, readyChangedAt, createdAt } }) =>
    ready && readyChangedAt !== undefined ? [readyChangedAt - createdAt] : [],
  );
  return starts.length === 0 ? START_PATIENCE_MILLIS : Math.max(START_PATIENCE_MILLIS, STARTS * Math.min(...starts));
}

/**
 * Pods that a change in place is judged by. While somebody else's rollout is under way, those of the new template are
 * not among them: what is wrong with them is rather the new template's doing.
 */
export function judgedPods(
  pods: readonly SizedPod[],
  { restarts }: Pick<WatchedChange, 'restarts'>,
  isRollingOut: boolean,
): readonly SizedPod[] {
  if (!isRollingOut) return pods;
  return pods.filter(({ pod, sizing }) => sizing.statuses.some(({ name }) => restarts.has(`${pod.uid}/${name}`)));
}

function harmsIn(
  { pod, sizing }: SizedPod,
  lowered: readonly SizedPart[],
  { startedAt, restarts, unready, restarting, restarted }: WatchedChange,
  startMillis: Millis,
  now: EpochMillis,
): readonly Harm[] {
  const harms: Harm[] = [];
  const containers = new Set(lowered.map(({ container }) => container));
  for (const container of containers) {
    const parts = lowered.filter((part) => part.container === container);
    const status = sizing.statuses.find(({ name }) => name === container);
    const key = `${pod.uid}/${container}`;
    const before = restarts.get(key) ?? 0;
    const ours = Math.max(restarted.get(key) ?? 0, before + (restarting.has(container) ? 1 : 0));
    if (status === undefined || status.restartCount <= before) continue;
    if (isOutOfMemory(status)) {
      // A kill for want of memory says nothing about CPU.
      const cause = `container ${container} of pod ${pod.name} was killed for want of memory`;
      harms.push({ parts: parts.filter(({ resource }) => resource === 'memory'), cause });
    } else if (status.restartCount > ours) {
      harms.push({ parts, cause: `container ${container} of pod ${pod.name} restarted` });
    }
  }
  const since = pod.readyChangedAt ?? now;
  const isRestarted = restarting.size > 0 || sizing.statuses.some(({ name }) => restarted.has(`${pod.uid}/${name}`));
  const grace = pod.template.terminationGraceSeconds * 1000;
  const ofRunning = isRestarted ? grace + RESTART_PATIENCE_MILLIS : UNREADY_PATIENCE_MILLIS;
  // A pod that has never been ready is starting; what is wrong with it may be anything.
  const wasThere = [...containers].some((container) => restarts.has(`${pod.uid}/${container}`));
  const patience = wasThere ? ofRunning : startMillis;
  // It was seen ready when the change began, also where the clock of its node says otherwise.
  const isLongUnready = !pod.ready && now - Math.max(since, startedAt) >= patience;
  if (isLongUnready && !unready.has(pod.uid)) {
    harms.push({ parts: lowered, cause: `pod ${pod.name} is not ready since ${new Date(since).toISOString()}` });
  }
  return harms;
}

/** Only a lower limit makes a quota smaller; a lower request does not throttle (CFS bandwidth control). */
function throttled({ changes, before }: WatchedChange, throttlingOf: ThrottlingOf): readonly Harm[] {
  return changes.flatMap((change): Harm[] => {
    const { container } = change;
    const seen = lowersCpuLimit(change, before) ? throttlingOf(container) : undefined;
    if (seen === undefined || seen.now < THROTTLED || seen.now - seen.before < THROTTLING_JUMP) return [];
    const cause = `container ${container} is throttled in ${percentText(seen.now)} of its periods, ${percentText(seen.before)} before`;
    return [{ parts: [{ container, resource: 'cpu' }], cause }];
  });
}

function isOutOfMemory({ lastTermination }: ContainerStatusRecord): boolean {
  return lastTermination?.reason === 'OOMKilled';
}
