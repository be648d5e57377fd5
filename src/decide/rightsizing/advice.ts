/** Advice for one resource of one container: the value, whether to act on it, and every step that led to it. */
import type { EpochMillis } from '../../lib/units.ts';

/**
 * Steps from what usage says to what is requested, in about the order they are taken; each leaves a note where it
 * changed something.
 */
export type Stage =
  | 'target'
  | 'out-of-memory'
  | 'learned-floor'
  | 'confidence'
  | 'rounding'
  | 'bounds'
  | 'limit'
  | 'hpa'
  | 'limit-range'
  | 'quota'
  | 'node-size'
  | 'step'
  | 'change';

/** One line of the explanation, in the unit of the resource: millicores or bytes. */
export interface StageNote {
  readonly stage: Stage;
  /** The value after this stage. */
  readonly value: number;
  readonly text: string;
}

/** Why advice is not acted upon now, or why there is none. Each has its sentence in lib/reason-size-skips.ts. */
export type HoldReason =
  | 'NoData'
  | 'Stale'
  | 'UsageUnread'
  | 'LowConfidence'
  | 'WithinMinChange'
  | 'GainTooSmall'
  | 'Cooldown'
  | 'MemoryDecreaseNotAllowed'
  | 'MemoryDecreaseUnsafe'
  | 'HpaTarget'
  | 'HpaScalePoint'
  | 'GuaranteedKept'
  | 'QuotaExceeded'
  | 'CpuAllocated';

/**
 * What keeps the target below what is needed: told, as otherwise a workload that lacks something looks settled
 * (rightsizing bug 21).
 */
export type CapReason = 'AtMax' | 'AtLimit' | 'AtLimitRange' | 'NodeTooSmall';

export interface ResourceAdvice {
  /**
   * What the container should request in the end: millicores or bytes, whole; undefined when nothing is known, never a
   * guess.
   */
  readonly target: number | undefined;
  /** What it should request next: the target, or a step towards it. */
  readonly request: number | undefined;
  /** A limit to set with it; undefined leaves the limit as it is. */
  readonly limit: number | undefined;
  /** The limit that belongs to the target; left out, as `limit`, where it stays as it is. */
  readonly targetLimit?: number | undefined;
  /** True when the request should be changed now. */
  readonly isDue: boolean;
  readonly held: HoldReason | undefined;
  /**
   * When what holds it back is over, where that is a matter of time alone: a history too short, a pause between two
   * changes.
   */
  readonly readyAt?: EpochMillis | undefined;
  /** More is needed than the target says; it goes no further than this allows. */
  readonly capped?: CapReason | undefined;
  /** A line for each stage that had something to say, in order. */
  readonly notes: readonly StageNote[];
}

const caps: Readonly<Partial<Record<Stage, CapReason>>> = {
  bounds: 'AtMax',
  limit: 'AtLimit',
  'limit-range': 'AtLimitRange',
  'node-size': 'NodeTooSmall',
};

/** Undefined where what lowered the value last stands for no cap. */
export function capOf(notes: readonly StageNote[]): CapReason | undefined {
  const stage = cutBy(notes);
  return stage && caps[stage];
}

/** The stage that last lowered the value and was not overruled since. */
function cutBy(notes: readonly StageNote[]): Stage | undefined {
  let cut: Stage | undefined;
  let before = Number.NEGATIVE_INFINITY;
  for (const { stage, value } of notes) {
    if (value > before) cut = undefined;
    else if (value < before) cut = stage;
    before = value;
  }
  return cut;
}

/** More is needed, and it goes as far as there is room by now: the next moment may have a little more of it. */
export function isCutByRoom({ notes }: Pick<ResourceAdvice, 'notes'>): boolean {
  const stage = cutBy(notes);
  return stage === 'quota' || stage === 'node-size';
}

/** It follows from a kill for want of memory. */
export function wasKilled({ notes }: Pick<ResourceAdvice, 'notes'>): boolean {
  return notes.some(({ stage }) => stage === 'out-of-memory');
}

/** A value on its way through the stages. */
export interface Draft {
  readonly value: number;
  readonly notes: readonly StageNote[];
}

/** The draft with a new value and a note on it. */
export function amend<T extends Draft>(draft: T, stage: Stage, value: number, text: string): T {
  return { ...draft, value, notes: [...draft.notes, { stage, value, text }] };
}

/**
 * No value at all, which is never the smallest one: an empty history must not size anything down (rightsizing bugs 2
 * and 24).
 */
export function noAdvice(held: HoldReason, text: string): ResourceAdvice {
  return {
    target: undefined,
    request: undefined,
    limit: undefined,
    isDue: false,
    held,
    notes: [{ stage: 'target', value: Number.NaN, text }],
  };
}

/** The advice, kept visible and not acted upon. */
export function holdAdvice(advice: ResourceAdvice, held: HoldReason, text: string): ResourceAdvice {
  const value = advice.request ?? Number.NaN;
  return { ...advice, isDue: false, held, notes: [...advice.notes, { stage: 'change', value, text }] };
}

/** At least `floor`, with a note where that changes something. */
export function raiseTo(draft: Draft, floor: number | undefined, stage: Stage, text: string): Draft {
  return floor === undefined || draft.value >= floor ? draft : amend(draft, stage, floor, text);
}
