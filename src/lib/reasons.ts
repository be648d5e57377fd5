/** Rendering of the table of reasons: the one vocabulary in which Stowage says what it did, did not do, and why. */
import type { ReasonDefinition, ReasonKind } from './reason-definition.ts';
import { reasonTable } from './reason-table.ts';
import { shortened } from './shortened.ts';

/** A reason of the table, e.g. `BlockedByPdb`. An unknown one does not compile. */
export type ReasonName = keyof typeof reasonTable;

/** The reasons that may be used as `Kind`, e.g. `ReasonNameOf<'block'>` for a guard's verdict. */
export type ReasonNameOf<Kind extends ReasonKind> = {
  [Name in ReasonName]: Kind extends (typeof reasonTable)[Name]['kinds'][number] ? Name : never;
}[ReasonName];

type MessageOf<Name extends ReasonName> = (typeof reasonTable)[Name]['message'];
type Placeholders<Text extends string> = Text extends `${string}{${infer Key}}${infer Rest}`
  ? (Key extends `${infer Count}|${string}` ? Count : Key) | Placeholders<Rest>
  : never;

/** What the message of a reason must be given: one value for each of its `{placeholders}`. */
export type ReasonValues<Name extends ReasonName> = {
  readonly [Key in Placeholders<MessageOf<Name>>]: string | number;
};

/** A reason with its sentence, ready for an event, a condition, a verdict or a log record. */
export interface Reason<Name extends ReasonName = ReasonName> {
  readonly name: Name;
  readonly message: string;
  /** What a person can do about it. */
  readonly advice: string;
}

/** The sentence of a reason with its values filled in. */
export function renderReason<Name extends ReasonName>(name: Name, values: ReasonValues<Name>): string {
  return fillIn(reasonTable[name].message, values);
}

/** The advice of a reason with the values of its sentence filled in. */
export function renderAdvice<Name extends ReasonName>(name: Name, values: ReasonValues<Name>): string {
  return fillIn(reasonTable[name].advice, values);
}

/**
 * A value may be an annotation of a quarter of a megabyte, and sentences are kept by the thousand: in the journal, in
 * statuses and in what was told.
 */
const LONGEST_VALUE = 1_000;

/** `{key}` is the value; `{key|pod is|pods are}` the word that goes with a count: the first for 1, else the second. */
function fillIn(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(PLACEHOLDER, (_, key: string, one: string | undefined, many: string | undefined) => {
    const value = shortened(String(values[key]), LONGEST_VALUE);
    return one === undefined || many === undefined ? value : value === '1' ? one : many;
  });
}

const PLACEHOLDER = /\{(\w+)(?:\|([^|{}]+)\|([^|{}]+))?\}/g;

/** A sentence of the table as the documentation shows it: counts in the plural, values in braces. */
export function withPlurals(text: string): string {
  return text.replace(
    PLACEHOLDER,
    (whole, _key: string, _one: string | undefined, many: string | undefined) => many ?? whole,
  );
}

/** A reason together with its sentence. */
export function reason<Name extends ReasonName>(name: Name, values: ReasonValues<Name>): Reason<Name> {
  return { name, message: renderReason(name, values), advice: renderAdvice(name, values) };
}

/** The table's row of a reason. */
export function describeReason(name: ReasonName): ReasonDefinition {
  return reasonTable[name];
}

/** Narrows text from outside (a stored event, a query) to a reason of the table. */
export function isReasonName(text: string): text is ReasonName {
  return Object.hasOwn(reasonTable, text);
}
