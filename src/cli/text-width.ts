/** How many terminal columns a text takes, and lines made safe to print. */
import { printable } from '../lib/printable.ts';

/** Scripts and symbols drawn two columns wide: East Asian Wide and Fullwidth (Unicode Annex 11), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks, joiners and variation selectors: they change the character before them and take no column. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\u200b-\u200f\u2060\ufeff]+$/u;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Columns that `text` takes on a terminal, by grapheme: 1 for most, 2 for wide ones, 0 for marks.
 * @param text without escape sequences; see {@link printable}.
 */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    if (ZERO_WIDTH.test(segment)) continue;
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}

const ESCAPE = '\u001b';
/** One colour as {@link Style} writes it; it takes no column. */
export const COLOUR = new RegExp(`${ESCAPE}\\[[0-9;]*m`);
const AROUND_COLOURS = new RegExp(`(${COLOUR.source})`);

/** A line as it goes to the terminal: {@link printable} but for its colours. The last look, should a text have come by unseen. */
export function printableLine(line: string): string {
  const parts = line.split(AROUND_COLOURS);
  return parts.length === 1
    ? printable(line)
    : parts.map((part, at) => (at % 2 === 1 ? part : printable(part))).join('');
}

/** `text` cut to at most `width` columns, ending in `…` where something was cut. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    const next = textWidth(segment);
    if (used + next > width - 1) break;
    kept += segment;
    used += next;
  }
  return width <= 0 ? '' : `${kept}…`;
}

/** Splits `text` at spaces into lines of at most `width` columns; longer words stay whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
