/**
 * The kinds of configuration keys: how a value is written in YAML and in an environment variable, checked, and
 * documented.
 */
import * as z from 'zod';
import { formatDuration, parseDuration } from '../lib/duration.ts';
import type { Millis } from '../lib/units.ts';
import { flagOf } from './flag-text.ts';
import type { TextFormat } from './key-formats.ts';

/** What each key says about itself. */
export interface KeyTexts {
  /** One sentence with the unit. */
  readonly description: string;
  /** Name of the environment variable without `SPOTALIS_`; it beats the file. */
  readonly env?: string;
  /** A change takes effect only at the next start. */
  readonly restart?: boolean;
}

/** A leaf of the configuration. */
export interface ConfigKey<T> extends KeyTexts {
  /** Marks leaves in the tree. */
  readonly leaf: true;
  /** Checks a YAML value and turns it into what the program uses. */
  readonly schema: z.ZodType<T>;
  /** As it would be written in YAML; undefined when the key may be left out and then has no value. */
  readonly defaultValue: unknown;
  /** What is accepted, for error messages and the documentation. */
  readonly accepted: string;
  /** The text of an environment variable as a YAML value; undefined when the text is not of this kind. */
  fromText(text: string): unknown;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Text. With `required`, empty text is refused; any other has to be of the format. */
export function text(
  defaultValue: string,
  options: KeyTexts & { readonly accepted?: string; readonly required?: boolean; readonly format?: TextFormat },
): ConfigKey<string> {
  const { accepted = 'text', required = false, format, ...texts } = options;
  const isEmpty = (value: string): boolean => value.trim() === '';
  const schema = z
    .string('is not text')
    .refine((value) => !required || !isEmpty(value), 'cannot be empty')
    .refine((value) => isEmpty(value) || (format?.matches(value) ?? true), format?.complaint);
  return { ...texts, leaf: true, schema, defaultValue, accepted, fromText: (value) => value };
}

/** A key that is true or false; as a variable also 1, 0, yes, no, on and off. */
export function flag(defaultValue: boolean, texts: KeyTexts): ConfigKey<boolean> {
  return {
    ...texts,
    leaf: true,
    schema: z.boolean('is not a truth value'),
    defaultValue,
    accepted: 'true or false',
    fromText: flagOf,
  };
}

/** A truth value that may be left out: undefined then. */
export function optionalFlag(texts: KeyTexts): ConfigKey<boolean | undefined> {
  const key = flag(false, texts);
  return { ...key, schema: key.schema.optional(), defaultValue: undefined };
}

/** A whole number within `min` and `max`, both included. */
export function integer(defaultValue: number, { min, max, ...texts }: KeyTexts & Range): ConfigKey<number> {
  const tooSmall = min === 1 ? 'must be positive' : `must be at least ${min}`;
  return {
    ...texts,
    leaf: true,
    schema: z.int('is not a whole number').min(min, tooSmall).max(max, `must be at most ${max}`),
    defaultValue,
    accepted: `a whole number from ${min} to ${max}`,
    fromText: (value) => (/^[+-]?\d{1,15}$/.test(value.trim()) ? Number(value) : undefined),
  };
}

/**
 * A duration text such as `10s`, in milliseconds to the program; bare numbers are refused, they do not say the unit.
 */
export function duration(
  defaultValue: string,
  { min = 1, max, ...texts }: KeyTexts & Partial<Range>,
): ConfigKey<Millis> {
  const upTo = max === undefined ? '' : ` and at most ${formatDuration(max)}`;
  const accepted = `a duration such as 30s, 10m or 1h30m, ${min === 1 ? 'longer than 0s' : `at least ${formatDuration(min)}`}${upTo}`;
  const schema = z.string('is not a duration with a unit').transform((value, context): Millis => {
    const millis = readMillis(value);
    if (millis === undefined) context.addIssue('is not a duration');
    else if (millis < min)
      context.addIssue(millis <= 0 ? 'must be positive' : `must be at least ${formatDuration(min)}`);
    else if (max !== undefined && millis > max) context.addIssue(`must be at most ${formatDuration(max)}`);
    return millis ?? 0;
  });
  return { ...texts, leaf: true, schema, defaultValue, accepted, fromText: (value) => value };
}

function readMillis(value: string): Millis | undefined {
  try {
    return parseDuration(value);
  } catch {
    return undefined;
  }
}

/** One of a few words; `aliases` are other spellings of them. Case does not matter. */
export function choice<const Word extends string>(
  defaultValue: Word,
  words: readonly Word[],
  { aliases = {}, ...texts }: KeyTexts & { readonly aliases?: Readonly<Record<string, Word>> },
): ConfigKey<Word> {
  const spellings = [...words.map((word): [string, Word] => [word, word]), ...Object.entries(aliases)];
  const meanings = new Map(spellings.map(([spelling, word]) => [spelling.toLowerCase(), word]));
  const schema = z.string('is not text').transform((value, context): Word => {
    const word = meanings.get(value.toLowerCase());
    if (word === undefined) context.addIssue('is not known');
    return word ?? defaultValue;
  });
  return {
    ...texts,
    leaf: true,
    schema,
    defaultValue,
    accepted: `one of ${spellings.map(([spelling]) => spelling).join(', ')}`,
    fromText: (value) => value,
  };
}

/** A list of some of a few words; undefined when left out. */
export function optionalChoices<const Word extends string>(
  words: readonly Word[],
  texts: KeyTexts,
): ConfigKey<readonly Word[] | undefined> {
  return {
    ...texts,
    leaf: true,
    schema: z.array(z.enum(words, 'has an entry that is not known'), 'is not a list').readonly().optional(),
    defaultValue: undefined,
    accepted: `a list of ${words.join(', ')}`,
    fromText: (value) => value.split(',').map((word) => word.trim()),
  };
}

/** A number or text whose grammar is that of an annotation. */
export function annotationValue(
  defaultValue: string,
  parse: (text: string) => unknown,
  options: KeyTexts & { readonly accepted: string },
): ConfigKey<string> {
  const schema = z
    .union([z.string(), z.int()], 'is neither text nor a whole number')
    .transform((value, context): string => {
      try {
        parse(String(value));
      } catch {
        context.addIssue('is not valid');
      }
      return String(value);
    });
  return { ...options, leaf: true, schema, defaultValue, fromText: (value) => value };
}

/** Where a server listens. Port 0 is any free one. */
export interface BindAddress {
  /** Undefined listens on all addresses. */
  readonly host: string | undefined;
  readonly port: number;
}

/** `:8080`, `127.0.0.1:8080` or `[::1]:8080`. The `0` that switches a server off is read before (load.ts). */
export function bindAddress(defaultValue: string, texts: KeyTexts): ConfigKey<BindAddress> {
  const schema = z.string('is not text').transform((value, context): BindAddress => {
    const [, bracketed, plain, digits = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    if (digits === '' || port > 65_535) context.addIssue('is not an address with a port');
    return { host: bracketed ?? (plain === '' ? undefined : plain), port };
  });
  const accepted =
    '":PORT" for all addresses, or "HOST:PORT", PORT from 0 to 65535 (0 picks a free one), or "0" for no server';
  return { ...texts, leaf: true, schema, defaultValue, accepted, fromText: (value) => value };
}

/** A list of names, each of the format. */
export function names({
  defaultValue = [],
  format,
  ...options
}: KeyTexts & {
  readonly accepted: string;
  readonly format: TextFormat;
  readonly defaultValue?: readonly string[];
}): ConfigKey<readonly string[]> {
  const name = z
    .string('has an entry that is not text')
    .min(1, 'has an empty entry')
    .refine((value) => value === '' || format.matches(value), format.complaint);
  return {
    ...options,
    leaf: true,
    schema: z.array(name, 'is not a list').readonly(),
    defaultValue,
    fromText: (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
  };
}

/** A list of kinds of objects. */
export function kinds(
  defaultValue: readonly KindName[],
  options: KeyTexts & { readonly accepted: string },
): ConfigKey<readonly KindName[]> {
  const apiVersion = z.string('has no apiVersion').regex(/^[a-z0-9.-]+\/v[a-z0-9]+$/, 'is no group/version');
  const kind = z.string('has no kind').regex(/^[A-Z][A-Za-z0-9]*$/, 'is no kind');
  return {
    ...options,
    leaf: true,
    schema: z.array(z.strictObject({ apiVersion, kind }), 'is not a list').readonly(),
    defaultValue,
    fromText: () => undefined,
  };
}

/** A kind of objects as manifests name it: `argoproj.io/v1alpha1`, `Rollout`. */
export interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}
