/** Truth values as texts: in variables, in flat keys and in flags. */

const flagTexts: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** The truth value that a text stands for, in any case of letters; undefined for any other text. */
export function flagOf(text: string): boolean | undefined {
  return flagTexts.get(text.trim().toLowerCase());
}
