/** Runs `stowage explain`. */
import { type Blocking, explainPlan, type PlanExplanation } from '../../decide/placement/explain.ts';
import type { PodPlan } from '../../decide/placement/plan.ts';
import { inspectAll } from '../../guard/guard.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { planOne } from '../fleet.ts';
import { adviceFor, freeToAct } from '../guard-context.ts';
import { type LoadedInput, loadInput } from '../input/load-input.ts';
import { printInputNotes } from '../input/print-notes.ts';
import type { InputOptions } from '../input-options.ts';
import { DOCUMENT_VERSION, type ResultDocument, renderDocument } from '../output.ts';
import type { StyleName } from '../style.ts';
import { type Column, renderTable } from '../table.ts';
import { printable } from '../text-width.ts';
import { parseWorkloadReference, workloadLabel } from '../workload-reference.ts';

interface ExplanationDocument extends ResultDocument, Omit<PlanExplanation, 'blocks'> {
  readonly kind: 'Explanation';
  /** Every objection, first the one that counts. */
  readonly blocks: readonly (Blocking & { readonly advice: string })[];
}

export async function runExplain(
  context: CliContext,
  options: InputOptions,
  words: readonly string[],
): Promise<ExitCode> {
  const { io, global } = context;
  const ref = parseWorkloadReference(words, global.namespace);
  const input = await loadInput(context, options);
  const workload = input.view.workload(ref);
  if (workload === undefined) throw new CommandError(notFound(input, workloadLabel(ref), ref.name));
  const now = io.clock.now();
  const { plan } = planOne(input.view, input.rules, now, workload);
  const eviction = plan.decisions.find(({ kind }) => kind === 'evict');
  const guards = freeToAct(input.view, input.rules, plan.policy, now);
  const blocks = eviction === undefined ? [] : inspectAll(eviction, guards);
  const explained = explainPlan(plan, blocks, now);
  // Of a workload that is left alone the notes only repeat why.
  const explanation = plan.policy.state === 'managed' ? explained : { ...explained, notes: [] };
  const side = eviction?.kind === 'evict' ? eviction.to : 'wanted';
  const document: ExplanationDocument = {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Explanation',
    ...explanation,
    blocks: blocks.map((block) => ({ ...block, advice: adviceFor(block.reason, { side }) })),
  };
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, renderExplanation(document, context));
    printInputNotes(context, input);
  }
  return exitCodes.ok;
}

function renderExplanation(document: ExplanationDocument, { style, global, io }: CliContext): string[] {
  const { workload, headline, policy, pods, notes, blocks, next } = document;
  const tableOptions = { style, wide: global.output === 'wide', width: io.out.size()?.columns };
  return [
    `${style('heading', printable(workload))}: ${printable(headline)}`,
    ...policy.map((line) => `  ${printable(line)}`),
    ...(pods.length === 0 ? [] : ['', ...renderTable(podColumns, pods, tableOptions)]),
    '',
    ...notes.map((note) => `Note: ${printable(note)}`),
    ...blocks.flatMap(({ reason, message, advice }) => [
      `${style('bad', 'Blocked')} by ${reason}: ${printable(message)}`,
      `  ${advice}`,
    ]),
    `Next: ${printable(next)}`,
  ];
}

const stateStyles: Readonly<Record<PodPlan['state'], StyleName>> = {
  settled: 'good',
  'wrong-side': 'warning',
  unknown: 'warning',
  surplus: 'muted',
  terminating: 'muted',
  ended: 'muted',
};

const podColumns: readonly Column<PodPlan>[] = [
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

/** Names what was meant, if something of that name is there under another kind or namespace. */
function notFound(input: LoadedInput, label: string, name: string): string {
  const others = [...input.view.workloads()].filter((workload) => workload.name === name).map(workloadLabel);
  const hint =
    others.length > 0 ? `; there is ${others.slice(0, 3).join(', ')}` : '. `stowage status` lists the managed ones';
  return `${label} is not in ${input.source}${hint}`;
}
