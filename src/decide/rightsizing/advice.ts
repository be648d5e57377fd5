/** Advice for one resource of one container: the value, whether to act on it, and every step that led to it. */

export type Stage = 'target' | 'out-of-memory' | 'confidence' | 'step' | 'rounding' | 'bounds' | 'limit' | 'change';

export interface StageNote {
  readonly stage: Stage;
  /** The value after this stage. */
  readonly value: number;
  readonly text: string;
}

/** Why advice is not acted upon now, or why there is none. */
export type HoldReason = 'NoData' | 'Stale' | 'LowConfidence' | 'WithinMinChange' | 'GainTooSmall' | 'Cooldown';

export interface ResourceAdvice {
  /** In millicores or bytes, whole; undefined when nothing is known, never a guess. */
  readonly request: number | undefined;
  /** A limit to set with it; undefined leaves the limit as it is. */
  readonly limit: number | undefined;
  /** True when the request should be changed now. */
  readonly isDue: boolean;
  readonly held: HoldReason | undefined;
  /** A line for each stage that had something to say, in order. */
  readonly notes: readonly StageNote[];
}

/** A value on its way through the stages. */
export interface Draft {
  readonly value: number;
  readonly notes: readonly StageNote[];
}

/** The draft with a new value and a note on it. */
export function amend(draft: Draft, stage: Stage, value: number, text: string): Draft {
  return { value, notes: [...draft.notes, { stage, value, text }] };
}

export function noAdvice(held: HoldReason, text: string): ResourceAdvice {
  return {
    request: undefined,
    limit: undefined,
    isDue: false,
    held,
    notes: [{ stage: 'target', value: Number.NaN, text }],
  };
}
