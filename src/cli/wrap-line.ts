/** Long lines on a narrow terminal: broken between words, what follows set under where the text began. */
import { COLOUR, textWidth } from './text-width.ts';

const COLOURS = new RegExp(COLOUR, 'g');
const shown = (text: string): string => text.replace(COLOURS, '');
/** Indentation, and a label before the text where there is one: `  blocked   BlockedByPdb: ...`. */
const HEAD = /^ *(?:\S+ {2,}|(?:note|warning): )?/;
/** Less than this beside the indentation is no place for text. */
const LEAST = 24;

/** @param width columns of the terminal; undefined (pipes, files) never breaks. @returns the line, or the lines it becomes. */
export function wrapLine(line: string, width: number | undefined): string[] {
  if (width === undefined || textWidth(shown(line)) <= width) return [line];
  const [head = ''] = HEAD.exec(shown(line)) ?? [];
  const indent = ' '.repeat(head.length > width - LEAST ? 2 : Math.max(2, head.length));
  const lines: string[] = [];
  let current = '';
  // Spaces of the head are no places to break at.
  const words = line.split(/(?<=[^ ]) (?=[^ ])/);
  for (const word of words) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && textWidth(shown(longer)) > width) {
      lines.push(current);
      current = `${indent}${word}`;
    } else current = longer;
  }
  return [...lines, current];
}
