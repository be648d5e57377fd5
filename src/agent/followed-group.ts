/** The control group of one pod or container: looked for, read, lost again; and why nothing is known of it. */
import type { Millis } from '../lib/units.ts';
import { type CounterRing, type CpuWindow, createCounterRing } from './cgroup/counter-ring.ts';
import type { CpuSettings, GroupReader } from './cgroup/counters.ts';

/** What is known of a pod or container; a pod's own figures include its containers and what the runtime uses for it. */
export interface GroupUse {
  window(spanMillis: Millis): CpuWindow | undefined;
  settings(): CpuSettings | undefined;
  /** When it was last read, by the sampler's clock; undefined before that. */
  lastMillis(): Millis | undefined;
}

/** One of hundreds: it has no functions of its own. */
export interface FollowedGroup {
  readonly ring: CounterRing;
  /** Undefined until it is found. */
  path: string | undefined;
  missingSince: Millis | undefined;
  problem: string | undefined;
}

/** A pod that has started but a moment ago may not have a group yet. */
const MISSING_GRACE_MILLIS = 30_000;

/** @param capacity samples kept of it. */
export function followGroup(capacity: number): FollowedGroup {
  return { ring: createCounterRing(capacity), path: undefined, missingSince: undefined, problem: undefined };
}

/** @param hasPressure see {@link GroupReader}. @returns whether it was read. */
export function readGroup(group: FollowedGroup, groups: GroupReader, now: Millis, hasPressure = true): boolean {
  const { path } = group;
  if (path === undefined) return false;
  const reading = groups.counters(path, hasPressure);
  if (reading.ok) {
    group.ring.push(now, reading.value);
    group.missingSince = undefined;
    group.problem = undefined;
  } else if (reading.why === 'gone') {
    // What was counted belongs to another one, also where there will be one of the same name.
    groups.forget(path);
    group.path = undefined;
    group.ring.reset();
  } else group.problem = reading.message;
  return reading.ok;
}

/** Told only after a while: pods are known to the API before they have a group. @param problem asked then */
export function noteMissing(group: FollowedGroup, now: Millis, problem: () => string): void {
  group.missingSince ??= now;
  if (now - group.missingSince >= MISSING_GRACE_MILLIS) group.problem = problem();
}

/** @param groups undefined while no control groups are mounted */
export function useOf(group: FollowedGroup, groups: () => GroupReader | undefined): GroupUse {
  return {
    window: (spanMillis) => group.ring.window(spanMillis),
    settings() {
      const reading = group.path === undefined ? undefined : groups()?.settings(group.path);
      return reading?.ok === true ? reading.value : undefined;
    },
    lastMillis: () => group.ring.lastMillis,
  };
}
