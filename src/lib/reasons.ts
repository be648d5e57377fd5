/** Rendering of the table of reasons: the one vocabulary in which Stowage says what it did, did not do, and why. */
import type { ReasonDefinition, ReasonKind } from './reason-definition.ts';
import { reasonTable } from './reason-table.ts';

/** A reason of the table, e.g. `BlockedByPdb`. An unknown one does not compile. */
export type ReasonName = keyof typeof reasonTable;

/** The reasons that may be used as `Kind`, e.g. `ReasonNameOf<'block'>` for a guard's verdict. */
export type ReasonNameOf<Kind extends ReasonKind> = {
  [Name in ReasonName]: Kind extends (typeof reasonTable)[Name]['kinds'][number] ? Name : never;
}[ReasonName];

type MessageOf<Name extends ReasonName> = (typeof reasonTable)[Name]['message'];
type Placeholders<Text extends string> = Text extends `${string}{${infer Key}}${infer Rest}`
  ? Key | Placeholders<Rest>
  : never;

/** What the message of a reason must be given: one value for each of its `{placeholders}`. */
export type ReasonValues<Name extends ReasonName> = {
  readonly [Key in Placeholders<MessageOf<Name>>]: string | number;
};

/** A reason with its sentence, ready for an event, a condition, a verdict or a log record. */
export interface Reason<Name extends ReasonName = ReasonName> {
  readonly name: Name;
  readonly message: string;
}

/** The sentence of a reason with its values filled in. */
export function renderReason<Name extends ReasonName>(name: Name, values: ReasonValues<Name>): string {
  const given: Readonly<Record<string, string | number>> = values;
  return reasonTable[name].message.replace(/\{(\w+)\}/g, (_, key: string) => String(given[key]));
}

/** A reason together with its sentence. */
export function reason<Name extends ReasonName>(name: Name, values: ReasonValues<Name>): Reason<Name> {
  return { name, message: renderReason(name, values) };
}

/** The table's row of a reason. */
export function describeReason(name: ReasonName): ReasonDefinition {
  return reasonTable[name];
}

/** Narrows text from outside (a stored event, a query) to a reason of the table. */
export function isReasonName(text: string): text is ReasonName {
  return Object.hasOwn(reasonTable, text);
}
