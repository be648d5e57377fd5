/**
 * Looks whether lowered CPU limits hold containers back: asks the source of usage now and then, while such a change is
 * watched.
 */
import type { ThrottlingOf } from '../../decide/rightsizing/judge-change.ts';
import { lowersCpuLimit } from '../../decide/rightsizing/watched-change.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadRef } from '../../model/refs.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import type { ApplyContext } from './apply.ts';
import type { OngoingChange } from './watches.ts';

/** What is known of one change; filled in as answers come. */
export interface ThrottlingSeen {
  askedAt: EpochMillis | undefined;
  /** Share of periods in which it was throttled, 0 to 1, by container: in the minutes before the change began. */
  before: ReadonlyMap<string, number> | undefined;
  /** The same in the latest minutes that lie after the change as a whole. */
  now: ReadonlyMap<string, number> | undefined;
  /** Why it is not known. */
  problem: string | undefined;
}

/** @returns how each container of the change is held back, as far as it is known. */
export type LookForThrottling = (context: ApplyContext, change: OngoingChange) => Promise<ThrottlingOf>;

export interface ThrottlingOptions {
  readonly usage: Pick<UsageCollector, 'throttlingOf'>;
  readonly clock: Clock;
}

/**
 * Long enough for several scrapes, short enough for a jump to be seen. All of it lies after the change, or before it: a
 * window across the change would hide the jump.
 */
const WINDOW_MILLIS: Millis = 300_000;
/** The latest scrape may still be on its way. */
const LAG_MILLIS: Millis = 60_000;
/** As often as scrapes bring something new. */
const ASK_MILLIS: Millis = 60_000;

export function createLookForThrottling({ usage, clock }: ThrottlingOptions): LookForThrottling {
  return async ({ advised: { workload }, live, signal }, change) => {
    const { throttling: seen, startedAt } = change;
    const containers = change.changes
      .filter((each) => lowersCpuLimit(each, change.before))
      .map(({ container }) => container);
    if (containers.length === 0) return () => undefined;
    const now = clock.now();
    const isSettled = now - startedAt >= WINDOW_MILLIS + LAG_MILLIS;
    const isDue = seen.askedAt === undefined || now - seen.askedAt >= ASK_MILLIS;
    // Before the change at once: it tells early whether anything will be known at all.
    if (isDue && (seen.before === undefined || isSettled)) {
      seen.askedAt = now;
      const pods = live.map(({ pod }) => pod.name);
      const agoMillis = seen.before === undefined ? now - startedAt : LAG_MILLIS;
      const asked = { workload: workloadRef(workload), pods, containers, agoMillis, windowMillis: WINDOW_MILLIS };
      const answer = await usage.throttlingOf(asked, signal);
      seen.problem = answer.ok ? undefined : answer.problem.message;
      if (answer.ok && seen.before === undefined) seen.before = answer.shares;
      else if (answer.ok) seen.now = answer.shares;
    }
    return (container) => {
      const [before, after] = [seen.before?.get(container), seen.now?.get(container)];
      return before === undefined || after === undefined ? undefined : { before, now: after };
    };
  };
}

export function nothingSeen(): ThrottlingSeen {
  return { askedAt: undefined, before: undefined, now: undefined, problem: undefined };
}

/** For people: what cannot be known of the changes that are watched. */
export function throttlingNote(changes: readonly OngoingChange[]): string | undefined {
  const unknown = changes.find(({ throttling }) => throttling.problem !== undefined);
  return unknown && `whether its lower CPU limit throttles is not known: ${unknown.throttling.problem}`;
}
