/** What each node's CPU would be, or is, shared out as, for people. */

import { formatDuration } from '../../lib/duration.ts';
import { printable } from '../../lib/printable.ts';
import { counted } from '../plural.ts';
import type { Style } from '../style.ts';
import { type Column, renderTable, type TableOptions } from '../table.ts';
import { type AllocationPlan, isResize, type PlannedNode, type PlannedShare } from './allocation-plan.ts';

/** A block of lines a node. @param isLong with the rules that bounded each share. */
export function renderNodePlan(node: PlannedNode, style: Style, isLong: boolean): string[] {
  const { mode, shares, measuredBy, excluded } = node;
  const state = mode === undefined ? '' : `, ${mode}`;
  const title = style('heading', printable(`Node ${node.node}`));
  const out = Object.entries(excluded).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${title}: ${requestedText(node, 'CPU requested, ')}${counted(shares.length, 'pod')} in allocation${state}`,
    `  measured  ${describeSource(node)}`,
    ...(measuredBy === 'nothing' ? [] : shares.flatMap((share) => renderShare(share, style, isLong))),
    ...(out.length === 0 ? [] : [`  left out  ${out.join(', ')}`]),
  ];
}

/** Nothing where pods of other namespaces are not seen. */
function requestedText({ requested, allocatable }: PlannedNode, after: string): string {
  return requested === undefined ? '' : `${requested}m of ${allocatable}m ${after}`;
}

function describeSource({ measuredBy, agentSilentMillis, agent, requested }: PlannedNode): string {
  switch (measuredBy) {
    case 'agent':
      return agentSilentMillis === undefined
        ? 'by an agent that does not say when it last wrote'
        : `by its agent, last heard of ${formatDuration(roughly(agentSilentMillis))} ago${agent === 'alive' ? '' : ` (${agent}: nothing changes on its word)`}`;
    case 'metrics':
      return 'by the Metrics API, one look: bursts, throttling, quotas and autoscalers do not show';
    case 'nothing':
      if (requested === undefined)
        return 'by no agent; from the Metrics API shares are worked out only where all pods of the node are seen';
      return 'not at all: no agent has reported, and the Metrics API has no figures. Install the agents, or metrics-server';
  }
}

const roughly = (millis: number): number => Math.round(millis / 1000) * 1000;

function renderShare(share: PlannedShare, style: Style, isLong: boolean): string[] {
  const { namespace, pod, request, limit, usage, want, claim, weight, held, clamps } = share;
  const isChange = request.from !== request.to || limit?.from !== limit?.to;
  const verb = isResize(share) ? style('warning', 'resize    ') : style('good', 'keep      ');
  const ceiling = limit === undefined ? '' : `, limit ${arrow(limit.from, limit.to)}`;
  const facts = [
    ...(usage === undefined ? [] : [`uses ${usage}m`]),
    ...(want === undefined ? [] : [`could use ${want}m`]),
    ...(claim === undefined ? [] : [`is owed ${claim}m`]),
    ...(weight === undefined || weight === 1 ? [] : [`weight ${Math.round(weight * 1000) / 1000}`]),
  ];
  const wait = held === undefined || (held === 'Settled' && !isChange) ? '' : ` (${held})`;
  return [
    `  ${verb}${printable(`${namespace}/${pod}`)}: request ${arrow(request.from, request.to)}${ceiling}${wait}`,
    ...(facts.length === 0 ? [] : [`            ${facts.join(', ')}`]),
    ...(isLong ? clamps.map((clamp) => `            ${printable(clamp)}`) : []),
  ];
}

function arrow(from: number | undefined, to: number | undefined): string {
  const text = (value: number | undefined): string => (value === undefined ? 'none' : `${value}m`);
  return from === to ? text(from) : `${text(from)} -> ${text(to)}`;
}

/** One line about all nodes. */
export function summarizeAllocation({ isOn, resizes, nodes }: AllocationPlan): string {
  const pods = nodes.reduce((sum, { shares }) => sum + shares.length, 0);
  const unmeasured = nodes.filter(({ measuredBy }) => measuredBy === 'nothing').length;
  const facts = [
    `${counted(pods, 'pod')} on ${counted(nodes.length, 'node')} take part`,
    `${counted(resizes, 'resize')} now`,
    ...(unmeasured > 0 ? [`${counted(unmeasured, 'node')} without measurements`] : []),
    ...(isOn ? [] : ['off in this configuration (engines.allocation)']),
  ];
  return `Allocation: ${facts.join('; ')}.`;
}

/** For `status`: a row a node. */
export function renderNodeTable({ nodes }: AllocationPlan, options: TableOptions): string[] {
  return renderTable(columns, nodes, options);
}

const inForce = ({ shares }: PlannedNode): number =>
  shares.filter(({ request, limit }) => request.from === request.to && limit?.from === limit?.to).length;

const columns: readonly Column<PlannedNode>[] = [
  { header: 'CPU OF NODE', value: ({ node }) => node },
  {
    header: 'AGENT',
    value: ({ agent, agentSilentMillis }) => ({
      text: agentSilentMillis === undefined ? agent : `${agent}, ${formatDuration(roughly(agentSilentMillis))} ago`,
      style: agent === 'alive' ? 'good' : 'warning',
    }),
  },
  { header: 'REQUESTED', value: (node) => requestedText(node, '').trim() || '-', align: 'right' },
  { header: 'IN FORCE', value: (node) => `${inForce(node)}/${node.shares.length}`, align: 'right' },
  { header: 'MODE', value: ({ mode }) => mode ?? '-' },
  { header: 'SHARES', value: ({ shares }) => shares.map(({ pod, request }) => `${pod} ${request.to}m`).join(', ') },
];
