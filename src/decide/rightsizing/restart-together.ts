/**
 * Whether less of one resource waits for less of another, where each costs the pods a restart. The histories of CPU and
 * memory begin minutes apart, for a rate needs several samples and the start of a program is none of its CPU's; so
 * would their first decreases, and the second could then not begin before the pause between two restarts is over. No
 * wait is longer than that pause: what is not ready by then would have been a restart of its own anyway.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { HoldReason, ResourceAdvice } from './advice.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import type { Beginning } from './side-by-side.ts';
import type { SizedPart } from './watched-change.ts';

export interface TogetherQuestion {
  /** What costs a restart of all that may begin. */
  readonly beginning: Beginning;
  readonly advice: readonly SizedAdvice[];
  /** Whether a change of it costs a restart. */
  readonly isDear: (part: SizedPart) => boolean;
  /** Since when decreases have been waiting for others; undefined: they have not. */
  readonly since: EpochMillis | undefined;
  readonly now: EpochMillis;
}

/**
 * What the others wait for. `readyAt` is a guess where the history still has to grow: it is asked again at each pass.
 */
export interface Awaited extends SizedPart {
  readonly readyAt: EpochMillis;
}

/** Only time keeps these from being lowered. */
const ripening: ReadonlySet<HoldReason> = new Set(['LowConfidence', 'Cooldown']);

/**
 * @param patience the longest wait, from its beginning.
 * @returns the last of what may be lowered within the wait; undefined: nothing waits. Along with a raise everything
 * goes at once.
 */
export function awaitedDecrease(
  { beginning, advice, isDear, since, now }: TogetherQuestion,
  patience: Millis,
): Awaited | undefined {
  if (beginning.raises.length > 0 || beginning.decreases.length === 0) return undefined;
  const deadline = (since ?? now) + patience;
  let last: Awaited | undefined;
  for (const { container, cpu, memory } of advice) {
    for (const part of [
      { container, resource: 'cpu', advice: cpu },
      { container, resource: 'memory', advice: memory },
    ] as const) {
      const readyAt = isDear(part) ? readyAtOf(part.advice) : undefined;
      if (readyAt === undefined || readyAt > deadline || readyAt <= now) continue;
      if (last === undefined || readyAt > last.readyAt) last = { container, resource: part.resource, readyAt };
    }
  }
  return now < deadline ? last : undefined;
}

/** A raise that waits for its pause comes when it comes, and takes with it what goes down. */
function readyAtOf({ held, readyAt }: ResourceAdvice): EpochMillis | undefined {
  return held !== undefined && ripening.has(held) ? readyAt : undefined;
}
