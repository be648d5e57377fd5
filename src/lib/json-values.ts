/** A text of several JSON values one after the other, as `kubectl` writes them into one file and `jq -c` on a line each, taken apart. */

/** Opens or closes something, or begins a text, within which brackets mean nothing. */
const SIGNS = /["{}[\]]/g;

/** Texts, with the white space before them. */
export interface JsonValues {
  /** Those that end. Nothing was parsed: whether each is JSON is for the parser to say. */
  readonly values: readonly string[];
  /** What comes after them and does not end, or is no value; empty: nothing but white space. */
  readonly rest: string;
}

export function splitJsonValues(text: string): JsonValues {
  const values: string[] = [];
  const sign = new RegExp(SIGNS);
  let start = 0;
  let depth = 0;
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    const [character] = found;
    if (character === '"') {
      const end = endOfText(text, found.index);
      if (end === undefined) break;
      sign.lastIndex = end;
    } else if (character === '{' || character === '[') depth++;
    else if (--depth <= 0) {
      values.push(text.slice(start, sign.lastIndex));
      start = sign.lastIndex;
      depth = 0;
    }
  }
  const rest = text.slice(start);
  return { values, rest: rest.trim() === '' ? '' : rest };
}

/** Behind the quote that ends the text which begins at `from`; undefined: there is none. */
function endOfText(text: string, from: number): number | undefined {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === '\\') first--;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return undefined;
}
