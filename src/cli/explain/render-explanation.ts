/** An explanation, worked out here or told by the running operator, as a document and for people. */

import type { WorkloadCost } from '../../decide/placement/cost.ts';
import { costLines } from '../../decide/placement/cost-text.ts';
import type { Blocking, PlanExplanation } from '../../decide/placement/explain.ts';
import type { PodState } from '../../decide/placement/plan.ts';
import { printable } from '../../lib/printable.ts';
import { renderAllocation } from '../allocation/render-allocation.ts';
import type { CliContext } from '../cli-context.ts';
import type { InputNotes } from '../input/input-notes.ts';
import type { OperatorAllocation, OperatorJournalEntry } from '../operator-client.ts';
import type { ResultDocument } from '../output.ts';
import { renderSizes } from '../sizing/render-sizes.ts';
import type { PlannedSizes } from '../sizing/sizing-plan.ts';
import type { StyleName } from '../style.ts';
import { type Column, renderTable } from '../table.ts';

/** Notes on the input are there where there is one. */
export interface ExplanationDocument extends ResultDocument, Partial<InputNotes>, Omit<PlanExplanation, 'blocks'> {
  /** Every objection, first the one that counts; of an operator of any version. */
  readonly blocks: readonly (Omit<Blocking, 'reason'> & { readonly reason: string })[];
  readonly kind: 'Explanation';
  /** What rightsizing makes of it; absent where no policy selects it. */
  readonly sizing?: PlannedSizes;
  /** With --operator: how its pods share the CPU of their nodes; absent where none takes part. */
  readonly allocation?: readonly OperatorAllocation[];
  /** With prices, of a managed workload; dollars an hour. */
  readonly cost?: WorkloadCost;
  /** With --operator: what only the running operator knows. */
  readonly operator?: {
    readonly at: string;
    /** A follower does not know what was done. */
    readonly isLeader: boolean;
    readonly lastDisruption?: string;
    readonly journal: readonly OperatorJournalEntry[];
  };
}

/** Entries of the journal shown; the newest. `-o json` has all. */
const MAX_JOURNAL = 8;

export function renderExplanation(document: ExplanationDocument, { style, global, io }: CliContext): string[] {
  const { workload, headline, policy, pods, notes, blocks, next, cost, operator, sizing, allocation } = document;
  const tableOptions = { style, wide: global.output === 'wide', width: io.out.size()?.columns };
  const journal = operator?.journal.slice(-MAX_JOURNAL) ?? [];
  const older = (operator?.journal.length ?? 0) - journal.length;
  return [
    `${style('heading', printable(workload))}: ${printable(headline)}`,
    ...policy.map((line) => `  ${printable(line)}`),
    ...(pods.length === 0 ? [] : ['', ...renderTable(podColumns, pods, tableOptions)]),
    '',
    ...notes.map((note) => `Note: ${printable(note)}`),
    ...(cost === undefined ? [] : costLines(cost).map((line) => `Cost: ${printable(line)}`)),
    ...blocks.flatMap(({ reason, message, advice }) => [
      `${style('bad', 'Blocked')} by ${reason}: ${printable(message)}`,
      `  ${printable(advice)}`,
    ]),
    ...(operator?.lastDisruption === undefined ? [] : [`Last disruption: ${operator.lastDisruption}`]),
    `Next: ${printable(next)}`,
    ...(sizing === undefined ? [] : ['', ...renderSizes(sizing, style, true)]),
    ...(allocation === undefined ? [] : ['', ...renderAllocation(allocation, style, tableOptions)]),
    ...(journal.length === 0 ? [] : ['', ...renderTable(journalColumns, journal, tableOptions)]),
    ...(older > 0 ? [style('muted', `${older} older: stowage journal tells them`)] : []),
  ];
}

const stateStyles: Readonly<Record<PodState, StyleName>> = {
  settled: 'good',
  'wrong-side': 'warning',
  unknown: 'warning',
  surplus: 'muted',
  terminating: 'muted',
  ended: 'muted',
};

const podColumns: readonly Column<ExplanationDocument['pods'][number]>[] = [
  { header: 'SLOT', value: ({ slot }) => slot ?? '-', align: 'right' },
  { header: 'POD', value: ({ ref }) => ref.name },
  { header: 'WANTED', value: ({ wantedSide }) => wantedSide ?? '-' },
  { header: 'ACTUAL', value: ({ actualSide }) => actualSide },
  { header: 'NODE', value: ({ node }) => node ?? '-' },
  { header: 'READY', value: ({ ready }) => (ready ? 'yes' : 'no') },
  { header: 'REVISION', value: ({ revision }) => revision, wide: true },
  { header: 'STAMP', value: ({ stampedSlot }) => stampedSlot ?? '-', wide: true },
  { header: 'WHY', value: ({ note, state }) => ({ text: note, style: stateStyles[state] }) },
];

const journalColumns: readonly Column<OperatorJournalEntry>[] = [
  { header: 'LAST SEEN', value: ({ lastAt }) => new Date(lastAt).toISOString() },
  { header: 'TIMES', value: ({ count }) => count, align: 'right' },
  { header: 'WHAT', value: ({ kind }) => kind },
  { header: 'REASON', value: ({ reason }) => reason },
  { header: 'MESSAGE', value: ({ message }) => message },
];
