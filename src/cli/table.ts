/** Tables as kubectl prints them: upper-case headers, columns three spaces apart, no borders, the last column ragged. */
import { printable } from '../lib/printable.ts';
import { plainStyle, type Style, type StyleName } from './style.ts';
import { textWidth, truncate } from './text-width.ts';

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
  /** Columns of the terminal: the last column is cut there. Undefined (pipes) never cuts. */
  readonly width?: number | undefined;
  readonly style?: Style;
}

const GAP = '   ';

/** The lines of a table, without line ends. A header line is there even without rows. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions = {},
): string[] {
  const shown = columns.filter((column) => options.wide === true || column.wide !== true);
  const style = options.style ?? plainStyle;
  const header = shown.map((column): Cell => ({ text: column.header, style: 'heading' }));
  const cells = [header, ...rows.map((row) => shown.map((column) => toCell(column.value(row))))];
  const widths = shown.map((_, index) => Math.max(...cells.map((line) => textWidth(line[index]?.text ?? ''))));
  return cells.map((line) => renderLine(line, shown, widths, style, options.width));
}

function toCell(value: string | number | Cell): Cell {
  const cell = typeof value === 'object' ? value : { text: String(value) };
  return { ...cell, text: cell.text === '' ? '-' : printable(cell.text) };
}

function renderLine<Row>(
  line: readonly Cell[],
  columns: readonly Column<Row>[],
  widths: readonly number[],
  style: Style,
  available: number | undefined,
): string {
  let used = 0;
  const parts = line.map((cell, index) => {
    const isLast = index === line.length - 1;
    const width = widths[index] ?? 0;
    // At least 8 columns stay: a narrow terminal wraps rather than hiding everything.
    const text = isLast && available !== undefined ? truncate(cell.text, Math.max(8, available - used)) : cell.text;
    const padding = ' '.repeat(Math.max(0, width - textWidth(text)));
    used += width + GAP.length;
    const styled = cell.style === undefined ? text : style(cell.style, text);
    if (columns[index]?.align === 'right') return padding + styled;
    return isLast ? styled : styled + padding;
  });
  return parts.join(GAP);
}
