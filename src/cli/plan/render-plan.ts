/** The plan for people: a block of lines a workload, the reason on every line that needs one, and a summary at the end. */

import { costChange, fleetCostLines } from '../../decide/placement/cost-text.ts';
import { incompleteText, isBalanced } from '../../decide/placement/standing.ts';
import { formatDuration } from '../../lib/duration.ts';
import { printable } from '../../lib/printable.ts';
import { workloadText } from '../../model/cluster-view.ts';
import type { Side } from '../../model/records.ts';
import { renderNodePlan, summarizeAllocation } from '../allocation/render-nodes.ts';
import { counted } from '../plural.ts';
import { renderSizes, summarizeSizes } from '../sizing/render-sizes.ts';
import type { Style } from '../style.ts';
import type { PlanDocument, PlannedAction, PlannedWorkloadDocument, SlotRun } from './plan-document.ts';

export interface RenderPlanOptions {
  readonly style: Style;
  /** Show the slots too. */
  readonly wide: boolean;
}

/** Re-stamps of one workload beyond this many are counted, not listed. */
const MAX_RESTAMPS = 3;
/** Runs of slots listed for a side; many percentages alternate without end. */
const MAX_RUNS = 8;

export function renderPlan(plan: PlanDocument, options: RenderPlanOptions): string[] {
  const managed = plan.workloads.filter(({ state }) => state !== 'unmanaged');
  const lines = managed.flatMap((workload) => [...renderWorkload(workload, options), '']);
  const costs = plan.cost === undefined ? [] : fleetCostLines(plan.cost).map((line) => `Cost: ${printable(line)}.`);
  const { style, wide } = options;
  const sizes = plan.sizing?.workloads.flatMap((each) => [...renderSizes(each, style, wide), '']) ?? [];
  const sizing = plan.sizing === undefined ? [] : summarizeSizes(plan.sizing);
  const nodes = plan.allocation?.nodes.flatMap((each) => [...renderNodePlan(each, style, wide), '']) ?? [];
  const shares = plan.allocation === undefined ? [] : [summarizeAllocation(plan.allocation)];
  return [
    ...lines,
    ...sizes,
    ...nodes,
    ...renderUnmanaged(plan),
    ...costs,
    ...sizing,
    ...shares,
    renderSummary(plan, options),
  ];
}

function renderWorkload(workload: PlannedWorkloadDocument, options: RenderPlanOptions): string[] {
  const { style, wide } = options;
  const { replicas, policy, target, actual, drift, block, slots = [] } = workload;
  const title = style('heading', printable(workloadText(workload)));
  if (policy === undefined || target === undefined) {
    const why =
      block === undefined
        ? []
        : [`  ${style('bad', 'invalid')}   ${printable(block.message)}`, `            ${block.advice}`];
    return [`${title}: ${counted(replicas, 'replica')}, left alone`, ...why];
  }
  const waits = actual === undefined ? undefined : incompleteText({ target, actual, drift });
  const isSettled = actual !== undefined && isBalanced({ target, actual });
  return [
    `${title}: ${counted(replicas, 'replica')}, ${policy.spotPercentage} % spot, at least ${policy.minOnDemand} on-demand`,
    `  target    ${target.spot} spot, ${target.onDemand} on-demand`,
    actual === undefined
      ? `  admission slots ${describeSlots(slots)}`
      : `  actual    ${style(isSettled ? 'good' : 'warning', `${actual.spot} spot, ${actual.onDemand} on-demand`)}${actual.unknown > 0 ? `, ${actual.unknown} unknown` : ''}`,
    ...(wide && actual !== undefined ? [`  slots     ${describeSlots(slots)}`] : []),
    ...(workload.cost === undefined ? [] : [`  cost      ${printable(costChange(workload.cost))}`]),
    ...renderActions(workload.actions, style),
    ...(waits === undefined ? [] : [`  waits     ${waits}`]),
    ...workload.notes.map((note) => `  note      ${printable(note)}`),
    ...(workload.actions.length === 0 && isSettled ? [`  nothing   every replica is on the side of its slot`] : []),
  ];
}

function renderActions(actions: readonly PlannedAction[], style: Style): string[] {
  const restamps = actions.filter(({ action }) => action === 'restamp');
  const shown = [...actions.filter(({ action }) => action !== 'restamp'), ...restamps.slice(0, MAX_RESTAMPS)];
  const lines = shown.flatMap((action) => renderAction(action, style));
  const more = restamps.length - MAX_RESTAMPS;
  return more > 0 ? [...lines, `  re-stamp  ${counted(more, 'more pod')}`] : lines;
}

function renderAction({ action, pod, from, to, slot, why, blockedBy }: PlannedAction, style: Style): string[] {
  const what = {
    evict: `${style('warning', 'evict')}     ${printable(pod)} (${from} -> ${to})`,
    fallback: `${style('warning', 'recreate')}  ${printable(pod)} on ${to}`,
    restamp: `re-stamp  ${printable(pod)} as slot ${slot} (${to})`,
  }[action];
  return [
    `  ${what}: ${printable(why)}`,
    ...blockedBy.flatMap(({ reason, message, advice, retryAt }) => [
      `  ${style('bad', 'blocked')}   ${reason}: ${printable(message)}${retryAt === undefined ? '' : ` (looked at again at ${retryAt})`}`,
      `            ${advice}`,
    ]),
  ];
}

/** Where the pods of the slots go: `1, 4 to on-demand; 2-3, 5 to spot`. */
function describeSlots(slots: readonly SlotRun[]): string {
  const of = (side: Side): string[] => {
    const runs = slots
      .filter((run) => run.side === side)
      .map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
    if (runs.length === 0) return [];
    return [`${runs.slice(0, MAX_RUNS).join(', ')}${runs.length > MAX_RUNS ? ', ...' : ''} to ${side}`];
  };
  return [...of('on-demand'), ...of('spot')].join('; ') || 'no replica asked for';
}

function renderUnmanaged({ workloads }: PlanDocument): string[] {
  const unmanaged = workloads.filter(({ state }) => state === 'unmanaged');
  if (unmanaged.length === 0) return [];
  const names = unmanaged.map(({ kind, namespace, name }) => printable(`${namespace}/${name} (${kind})`));
  const shown = names.length > 6 ? `${names.slice(0, 6).join(', ')} and ${names.length - 6} more` : names.join(', ');
  return [
    `Not managed: ${shown}`,
    '  The label spotalis.io/enabled: "true" is needed on the namespace and on the workload; --assume-enabled shows what it would do.',
    '',
  ];
}

function renderSummary({ summary, pace, workloads: planned }: PlanDocument, { style }: RenderPlanOptions): string {
  const { workloads, managed, invalid, driftedReplicas, actions, blocked } = summary;
  const movesPods = planned.some((workload) => workload.actions.some(({ action }) => action === 'evict'));
  const facts = [
    `${managed} of ${counted(workloads, 'workload')} managed`,
    ...(invalid > 0 ? [`${invalid} with invalid settings`] : []),
    `${counted(driftedReplicas, 'replica')} on the wrong side`,
    `${counted(actions, 'action')} possible now, ${blocked} blocked`,
    ...(movesPods
      ? [
          `at most ${counted(pace.maxConcurrentEvictions, 'eviction')} at once, one a workload every ${formatDuration(pace.cooldownMillis)}`,
        ]
      : []),
  ];
  return `${style('heading', 'Plan:')} ${facts.join('; ')}. Nothing was written.`;
}
