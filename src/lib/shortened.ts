/** Text of others at a length at which it may be kept, logged and shown. */

/** The beginning of a text that is longer than `most` characters, and how much of it is missing. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half of a pair would be no character at all.
  return `${text.slice(0, most).toWellFormed()}... (${text.length} characters)`;
}

/** Of a value in a message: texts of others are of any length, and messages are logged and remembered. */
const LONGEST_QUOTE = 300;

/** A value of any kind as a message quotes it, as JSON; undefined where it has no form in JSON. */
export function quoted(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(shortened(value, LONGEST_QUOTE));
  const text = JSON.stringify(value);
  return text === undefined ? undefined : shortened(text, LONGEST_QUOTE);
}
