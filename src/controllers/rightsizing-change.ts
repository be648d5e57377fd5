/** The bookkeeping of a change: beginning, spreading, taking back, and what is told of each. */
import type { Journal } from '../act/journal.ts';
import type { RightsizingEvents } from '../act/rightsizing-events.ts';
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { ApplyMethod } from '../api/optimization-policy-status.ts';
import { describeChanges } from '../decide/rightsizing/due-changes.ts';
import type { Harm } from '../decide/rightsizing/judge-change.ts';
import { requestOf } from '../decide/rightsizing/recommend-workload.ts';
import type { SizeChange } from '../decide/size-decision.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { renderReason } from '../lib/reasons.ts';
import { formatTime } from '../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { writeAppliedSizes } from '../model/applied-sizes.ts';
import { workloadKey } from '../model/cluster-view.ts';
import { type LearnedFloor, type Lessons, learn, writeLessons } from '../model/learned-floors.ts';
import type { ValidPolicy } from '../model/optimization-policy.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../model/sizing-records.ts';
import type { Annotations } from './rightsizing-annotate.ts';
import { noteChanges, type OngoingChange, type WorkloadMemory } from './rightsizing-memory.ts';
import type { ApplyResult } from './rightsizing-result.ts';

export interface ChangeOptions {
  readonly events: RightsizingEvents;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export interface Changes {
  /** The change is made: told, counted, and remembered for cooldowns. */
  noteMade(
    workload: SizedWorkload,
    policy: ValidPolicy,
    memory: WorkloadMemory,
    made: { readonly changes: readonly SizeChange[]; readonly before: readonly ContainerSpecRecord[] },
    method: 'InPlace' | 'Recreate',
    how: ApplyMethod,
  ): void;
  /** A decrease did harm: told, and remembered. @returns what the workload has learned. */
  noteHarm(
    workload: SizedWorkload,
    memory: WorkloadMemory,
    ongoing: OngoingChange,
    harm: Harm,
    lessons: Lessons,
  ): { readonly lessons: Lessons; readonly result: ApplyResult };
}

/** What a decrease has shown to be too little counts this long. */
const FLOOR_MILLIS: Millis = 7 * 86_400_000;
const LOOK_AGAIN_MILLIS: Millis = 5_000;

export function createChanges({ events, journal, metrics, clock }: ChangeOptions): Changes {
  return {
    noteMade(workload, policy, memory, { changes, before }, method, how) {
      const now = clock.now();
      noteChanges(memory, changes, now);
      memory.lastApplied = now;
      memory.lastMethod = how;
      metrics.inc('optipod_applications_total', { policy: policy.name, method });
      const text = describeChanges(changes, before);
      const message = renderReason('UpdateSuccess', { ...workload, method, changes: text });
      events.onWorkload(workload, { reason: 'UpdateSuccess', message });
      journal.record(workloadKey(workload), { kind: 'done', reason: 'UpdateSuccess', message });
    },
    noteHarm(workload, memory, ongoing, harm, lessons) {
      const now = clock.now();
      memory.ongoing = undefined;
      noteChanges(memory, ongoing.changes, now);
      const message = renderReason('ChangeReverted', { ...workload, cause: harm.cause });
      events.onWorkload(workload, { reason: 'ChangeReverted', message });
      journal.record(workloadKey(workload), { kind: 'done', reason: 'ChangeReverted', message });
      return {
        lessons: learn(lessons, floorsOf(harm, ongoing.before, now)),
        result: { status: 'Pending', reason: 'ChangeReverted', message, againAfterMillis: LOOK_AGAIN_MILLIS },
      };
    },
  };
}

function floorsOf(
  { container, resources }: Harm,
  before: readonly ContainerSpecRecord[],
  now: EpochMillis,
): readonly LearnedFloor[] {
  const size = before.find(({ name }) => name === container)?.size ?? {};
  return resources.flatMap((resource) => {
    const atLeast = requestOf(resource, size);
    return atLeast === undefined ? [] : [{ container, resource, atLeast, until: now + FLOOR_MILLIS }];
  });
}

/** The annotations that say which sizes are in force, and what was learned. */
export function inForceAnnotations(
  workload: SizedWorkload,
  inForce: readonly ContainerSpecRecord[],
  lessons: Lessons,
  now: EpochMillis,
): Annotations {
  return {
    [rightsizingKeys.appliedSizes]: writeAppliedSizes(workload.containers, inForce) ?? null,
    [rightsizingKeys.lastApplied]: formatTime(now),
    [rightsizingKeys.learnedFloors]: writeLessons(lessons) ?? null,
  };
}
