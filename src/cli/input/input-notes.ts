/** What a document tells of its input beside its own figures: nobody who reads it sees what else is printed. */
import type { LoadedInput } from './load-input.ts';
import type { MissingData } from './missing-data.ts';

export interface InputNotes {
  readonly missing: readonly MissingData[];
  /** Objects of kinds that are of no use here, by kind. */
  readonly ignored: Readonly<Record<string, number>>;
  /** A sentence each; what came more than once among them. */
  readonly problems: readonly string[];
}

export function inputNotes({
  missing,
  ignored,
  problems,
  repeated,
}: Pick<LoadedInput, 'missing' | 'ignored' | 'problems' | 'repeated'>): InputNotes {
  return {
    missing,
    ignored: Object.fromEntries(ignored),
    problems: repeated === undefined ? problems : [...problems, repeated],
  };
}
