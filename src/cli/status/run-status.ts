/** Prints the fleet status. */

import { fleetCostLines, hourly } from '../../decide/placement/cost-text.ts';
import { describeError } from '../../lib/errors.ts';
import { printable } from '../../lib/printable.ts';
import { renderNodeTable, summarizeAllocation } from '../allocation/render-nodes.ts';
import { type CliContext, printLines, printNotes } from '../cli-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { inputNotes } from '../input/input-notes.ts';
import { loadInput } from '../input/load-input.ts';
import { printInputNotes } from '../input/print-notes.ts';
import type { InputOptions, OperatorOption } from '../input-options.ts';
import { fetchFleet, type OperatorFleet } from '../operator-client.ts';
import { renderDocument } from '../output.ts';
import { counted } from '../plural.ts';
import { summarizeSizes } from '../sizing/render-sizes.ts';
import type { StyleName } from '../style.ts';
import { type Column, renderTable } from '../table.ts';
import { type FleetStatus, fleetStatus, type WorkloadState, type WorkloadStatusRow } from './fleet-status.ts';
import { operatorOnly, renderOperatorOnly } from './operator-only.ts';
import { withOperator } from './with-operator.ts';

export async function runStatus(context: CliContext, options: InputOptions & OperatorOption): Promise<ExitCode> {
  const { io, global } = context;
  const { operator: url } = options;
  const [input, operator] = await Promise.all([
    loadInput(context, options).catch((error: unknown) => {
      // A mistake in a file or an option is one, whomever else can be asked.
      const isNamed = (options.filename ?? options.config ?? options.prices) !== undefined;
      if (url === undefined || isNamed || io.signal.aborted) throw error;
      return new ClusterOutOfReach(describeError(error));
    }),
    url === undefined ? undefined : fetchFleet({ url, io }),
  ]);
  if (input instanceof ClusterOutOfReach) {
    if (operator !== undefined) printOperatorOnly(operator, input.message, context);
    return exitCodes.ok;
  }
  const seen = fleetStatus(input, io.clock.now(), global.namespace);
  const status = operator === undefined ? seen : withOperator(seen, operator);
  const noted = { ...input, problems: status.problems };
  const text = renderDocument({ ...status, ...inputNotes(noted) }, global.output);
  if (text !== undefined) io.out.write(text);
  else {
    printLines(context, renderStatus(status, context));
    printInputNotes(context, noted);
  }
  return exitCodes.ok;
}

/** Why only the operator can tell. */
class ClusterOutOfReach extends Error {}

function printOperatorOnly(operator: OperatorFleet, why: string, context: CliContext): void {
  const { io, global, style } = context;
  const status = operatorOnly(operator, global.namespace);
  const text = renderDocument(status, global.output);
  if (text !== undefined) io.out.write(text);
  else printLines(context, renderOperatorOnly(status, context));
  const note = `note: the cluster cannot be read (${printable(why)}): this is what the operator tells`;
  printNotes(context, [
    style('muted', note),
    ...status.problems.map((problem) => style('warning', `warning: ${printable(problem)}`)),
  ]);
}

function renderStatus(
  { summary, nodes, workloads, evictions, cost, sizing, allocation }: FleetStatus,
  { style, global, io }: CliContext,
): string[] {
  const options = { style, wide: global.output === 'wide', width: io.out.size()?.columns };
  const { managed, drifted, driftedReplicas, blocked, incomplete, invalid } = summary;
  const drift = `${drifted} drifted (${counted(driftedReplicas, 'replica')}${blocked > 0 ? `, ${blocked} blocked` : ''})`;
  const recent = evictions === undefined ? [] : [`${counted(evictions, 'eviction')} within the last hour`];
  return [
    [
      `${managed} of ${counted(summary.workloads, 'workload')} managed: ${drift}`,
      `${incomplete} incomplete`,
      `${invalid} invalid`,
      ...recent,
    ].join(', '),
    ...(cost === undefined ? [] : fleetCostLines(cost).map((line) => `Cost: ${printable(line)}`)),
    ...(sizing === undefined ? [] : summarizeSizes(sizing)),
    ...(allocation === undefined ? [] : [summarizeAllocation(allocation)]),
    ...(nodes.every(({ nodes: count }) => count === 0) ? [] : ['', ...renderTable(nodeColumns, nodes, options)]),
    ...(allocation === undefined ? [] : ['', ...renderNodeTable(allocation, options)]),
    ...(workloads.length === 0 ? [] : ['', ...renderTable(workloadColumns(cost !== undefined), workloads, options)]),
  ];
}

const nodeColumns: readonly Column<FleetStatus['nodes'][number]>[] = [
  { header: 'NODES', value: (row) => row.class },
  { header: 'COUNT', value: (row) => row.nodes, align: 'right' },
  { header: 'USABLE', value: (row) => row.usable, align: 'right' },
  { header: 'PODS', value: (row) => row.pods, align: 'right' },
];

const stateStyles: Readonly<Record<WorkloadState, StyleName>> = {
  balanced: 'good',
  drifted: 'warning',
  incomplete: 'warning',
  invalid: 'bad',
};

const ofTarget = (row: WorkloadStatusRow, side: 'spot' | 'onDemand'): string =>
  row.target === undefined ? `${row.actual[side]}` : `${row.actual[side]}/${row.target[side]}`;

/** Without prices there is no such column. */
const costColumn: Column<WorkloadStatusRow> = {
  header: 'COST/H',
  value: ({ cost }) =>
    cost === undefined ? '-' : hourly(cost.actual).replace('/h', cost.pricedPods < cost.pods ? '+?' : ''),
  align: 'right',
};

const workloadColumns = (hasPrices: boolean): readonly Column<WorkloadStatusRow>[] => [
  { header: 'NAMESPACE', value: (row) => row.namespace },
  { header: 'WORKLOAD', value: (row) => `${row.kind.toLowerCase()}/${row.name}` },
  { header: 'READY', value: (row) => `${row.ready}/${row.replicas}`, align: 'right' },
  { header: 'SPOT', value: (row) => ofTarget(row, 'spot'), align: 'right' },
  { header: 'ON-DEMAND', value: (row) => ofTarget(row, 'onDemand'), align: 'right' },
  { header: 'UNKNOWN', value: (row) => row.actual.unknown, align: 'right', wide: true },
  { header: 'PENDING', value: (row) => row.pending, align: 'right', wide: true },
  ...(hasPrices ? [costColumn] : []),
  { header: 'STATE', value: (row) => ({ text: stateText(row), style: stateStyles[row.state] }) },
];

function stateText({ state, blockedBy, notes }: WorkloadStatusRow): string {
  const block = blockedBy === undefined ? [] : [`${blockedBy.reason}: ${blockedBy.message}`];
  return [state, ...block, ...notes].join('; ');
}
