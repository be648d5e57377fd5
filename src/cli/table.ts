/** Tables as kubectl prints them: upper-case headers, columns three spaces apart, no borders, the last column ragged. */
import { printable } from '../lib/printable.ts';
import { plainStyle, type Style, type StyleName } from './style.ts';
import { textWidth, truncate, wrap } from './text-width.ts';

interface Cell {
  readonly text: string;
  readonly style?: StyleName;
}

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string | number | Cell;
  readonly align?: 'right';
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
}

/** How wide, and how coloured. */
export interface TableOptions {
  /** Show the columns marked `wide`. */
  readonly wide?: boolean;
  /** Columns of the terminal: the last column is broken there, or set under its line. Undefined (pipes) never is. */
  readonly width?: number | undefined;
  /** A row is one line, whatever is lost of its last column: for a screen of a given height. */
  readonly cut?: boolean;
  readonly style?: Style;
}

const GAP = '   ';
/** Less than this beside the other columns is no place for a longer text. */
const LEAST_TEXT = 24;
const UNDER = '    ';

/** The lines of a table, without line ends. A header line is there even without rows. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions = {},
): string[] {
  const shown = columns.filter((column) => options.wide === true || column.wide !== true);
  const header = shown.map((column): Cell => ({ text: column.header, style: 'heading' }));
  const cells = [header, ...rows.map((row) => shown.map((column) => toCell(column.value(row))))];
  const widths = shown.map((_, index) =>
    cells.reduce((widest, line) => Math.max(widest, textWidth(line[index]?.text ?? '')), 0),
  );
  return cells.flatMap((line, index) =>
    renderLine(line, { ...options, columns: shown, widths, isHeader: index === 0 }),
  );
}

function toCell(value: string | number | Cell): Cell {
  const cell = typeof value === 'object' ? value : { text: String(value) };
  return { ...cell, text: cell.text === '' ? '-' : printable(cell.text) };
}

interface Layout extends TableOptions {
  readonly columns: readonly Pick<Column<never>, 'align'>[];
  readonly widths: readonly number[];
  readonly isHeader: boolean;
}

function renderLine(
  line: readonly Cell[],
  { columns, widths, isHeader, width: available, ...options }: Layout,
): string[] {
  const paint = ({ style }: Cell, text: string): string =>
    style === undefined ? text : (options.style ?? plainStyle)(style, text);
  const padded = line.map((cell, index) => {
    const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textWidth(cell.text)));
    return columns[index]?.align === 'right' ? padding + paint(cell, cell.text) : paint(cell, cell.text) + padding;
  });
  const last = line.at(-1);
  if (last === undefined) return [];
  const before = padded
    .slice(0, -1)
    .map((text) => text + GAP)
    .join('');
  const used = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const isRight = columns.at(-1)?.align === 'right';
  const room = available === undefined ? Number.POSITIVE_INFINITY : available - used;
  if (isRight || textWidth(last.text) <= room) return [before + (isRight ? padded.at(-1) : paint(last, last.text))];
  // At least 8 columns stay: a narrow terminal wraps rather than hiding everything.
  if (options.cut === true || isHeader) return [before + paint(last, truncate(last.text, Math.max(8, room)))];
  if (room < LEAST_TEXT && used > 0)
    return [before.trimEnd(), ...wrap(last.text, room + used - UNDER.length).map((text) => UNDER + paint(last, text))];
  return wrap(last.text, room).map((text, index) => (index === 0 ? before : ' '.repeat(used)) + paint(last, text));
}
