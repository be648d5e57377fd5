/** Text of others at a length at which it may be kept, logged and shown. */

/** The beginning of a text that is longer than `most` characters, and how much of it is missing. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half of a pair would be no character at all.
  return `${text.slice(0, most).toWellFormed()}... (${text.length} characters)`;
}
