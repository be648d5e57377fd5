/** The journal as a document and for people. */
import { printable } from '../../lib/printable.ts';
import type { CliContext } from '../cli-context.ts';
import type { ResultDocument } from '../output.ts';
import { counted } from '../plural.ts';
import type { StyleName } from '../style.ts';
import { type Column, renderTable } from '../table.ts';

export interface JournalRow {
  /** When it happened last (ISO 8601). */
  readonly at: string;
  /** When it happened first, where it was counted. */
  readonly firstAt: string;
  readonly count: number;
  /** `Deployment/shop/web`. */
  readonly workload: string;
  readonly engine?: string;
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
  readonly pod?: string;
  readonly numbers?: Readonly<Record<string, number | string | boolean>>;
}

export interface JournalDocument extends ResultDocument {
  readonly kind: 'Journal';
  readonly source: string;
  readonly from?: string;
  readonly to?: string;
  /** Oldest first. */
  readonly entries: readonly JournalRow[];
  /** Older ones that were asked for and are not told. */
  readonly omitted: number;
  /** What is not known, and where to find it. */
  readonly problems: readonly string[];
}

export function renderJournal({ entries, source, from, to }: JournalDocument, context: CliContext): string[] {
  const { style, global, io } = context;
  const options = { style, wide: global.output === 'wide', width: io.out.size()?.columns };
  const count = (...kinds: readonly string[]): number => entries.filter(({ kind }) => kinds.includes(kind)).length;
  const range = [from === undefined ? '' : ` from ${from}`, to === undefined ? '' : ` to ${to}`].join('');
  const sums = `${count('done')} done, ${count('failed')} failed, ${count('blocked')} held back`;
  return [
    `${counted(entries.length, 'entry', 'entries')}${range}, of ${printable(source)}: ${sums}`,
    ...(entries.length === 0 ? [] : ['', ...renderTable(columns, entries, options)]),
  ];
}

const kindStyles: Readonly<Record<string, StyleName>> = {
  done: 'good',
  failed: 'bad',
  blocked: 'warning',
  seen: 'muted',
};

const columns: readonly Column<JournalRow>[] = [
  { header: 'TIME', value: ({ at }) => at },
  { header: 'SINCE', value: ({ firstAt, count }) => (count > 1 ? firstAt : '-'), wide: true },
  { header: 'TIMES', value: ({ count }) => count, align: 'right' },
  { header: 'ENGINE', value: ({ engine }) => engine ?? '-' },
  { header: 'WORKLOAD', value: ({ workload }) => workload },
  { header: 'WHAT', value: ({ kind }) => ({ text: kind, style: kindStyles[kind] ?? 'heading' }) },
  { header: 'REASON', value: ({ reason }) => reason },
  { header: 'POD', value: ({ pod }) => pod ?? '-', wide: true },
  { header: 'MESSAGE', value: ({ message }) => message },
];
