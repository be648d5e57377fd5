/** What is told of reports of `stowage simulate`; types only, as in answers.ts. */

export interface FigureTold {
  readonly name: string;
  readonly value: number;
  /** What it is, with its unit; absent for figures of another version. */
  readonly meaning?: string | undefined;
}

export interface SimulationTold {
  readonly scenario: string;
  readonly description: string;
  readonly seed: number;
  /** Every assertion holds, and so does every invariant. */
  readonly hasPassed: boolean;
  /** Checks of invariants that were made. */
  readonly checks: number;
  readonly figures: readonly FigureTold[];
  readonly pools: readonly {
    readonly name: string;
    readonly class: string;
    readonly instanceType: string;
    readonly nodeHours: number;
    readonly cost: number;
    readonly costOnDemand: number;
  }[];
  /** Events of the operator by reason, the most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  readonly asserts: readonly {
    readonly text: string;
    readonly actual: number;
    readonly limit: number;
    readonly ok: boolean;
  }[];
  readonly violations: readonly {
    readonly invariant: string;
    readonly meaning?: string | undefined;
    readonly at: number;
    readonly detail: string;
  }[];
  /** What could not be done as the scenario says. */
  readonly problems: readonly string[];
}

/** A row of the list. */
export type SimulationSummary = Pick<SimulationTold, 'scenario' | 'description' | 'seed' | 'hasPassed' | 'figures'>;

export interface ReportFileTold {
  readonly file: string;
  readonly writtenAt: number;
  /** Two of a comparison; none where there is a problem. */
  readonly runs: readonly SimulationSummary[];
  /** Why it cannot be shown, and how to mend it. */
  readonly problem?: string | undefined;
}

export interface SimulationsAnswer {
  readonly at: number;
  /** Absent where none is configured. */
  readonly folder?: string | undefined;
  /** Why the folder cannot be read. */
  readonly problem?: string | undefined;
  /** The newest first. */
  readonly files: readonly ReportFileTold[];
  /** Older ones that are not listed. */
  readonly omitted: number;
}

export interface SimulationAnswer {
  readonly at: number;
  readonly file: string;
  readonly writtenAt: number;
  /** Two of a comparison. */
  readonly runs: readonly SimulationTold[];
}
