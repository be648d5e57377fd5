/** The shape of a row in the table of reasons. */

/** Where a reason is used. */
export type ReasonKind =
  /** An event on the workload about something done or seen. */
  | 'event'
  /** A guard's verdict: something that would have been done and was not. */
  | 'block'
  /** A pod that was admitted without being steered. */
  | 'unsteered'
  /** Why a recommendation of rightsizing is not applied. */
  | 'skip'
  /** The reason of a status condition. */
  | 'condition';

/** A row of the table. Texts are for people who do not know Stowage's insides. */
export interface ReasonDefinition {
  readonly kinds: readonly ReasonKind[];
  /** The type of the Kubernetes event that carries it: Warning where a person should look. */
  readonly eventType: 'Normal' | 'Warning';
  /** A sentence with `{placeholders}`; `{count|pod|pods}` gives the word that goes with the count. */
  readonly message: string;
  /** What a person can do about it; it may use the placeholders of the message. */
  readonly advice: string;
}

/** The advice where all is well. */
export const nothingToDo = 'Nothing to do.';
