/** Sizes for people: what each container requests and should, and why it has not got it yet. */
import { printable } from '../../lib/printable.ts';
import { workloadText } from '../../model/cluster-view.ts';
import { counted } from '../plural.ts';
import type { Style } from '../style.ts';
import { isResized, type PlannedSizes, type SizeDifference, type SizingPlan } from './sizing-plan.ts';

/** @param isLong with the stages of each recommendation. */
export function renderSizes(sizes: PlannedSizes, style: Style, isLong: boolean): string[] {
  const { policy, mode, status, reason, message, differences, missing, unread } = sizes;
  const isForNobody = sizes.isForNobody === true;
  const lines = differences.flatMap((difference) => renderDifference(difference, style, isLong, isForNobody));
  return [
    `${style('heading', printable(workloadText(sizes)))}: sized by policy ${printable(policy)} (${mode})${status === undefined ? '' : `, ${status}`}`,
    ...lines,
    ...(missing === undefined ? [] : [`  note      ${printable(missing)}`]),
    ...(unread === undefined ? [] : [`  ${style('warning', 'usage')}     ${printable(unread)}`]),
    ...(reason === undefined
      ? []
      : [`  ${style('warning', 'held')}      ${printable(`${reason}${message === undefined ? '' : `: ${message}`}`)}`]),
    ...(sizes.replicaSizes === undefined ? [] : [`  replicas  ${printable(sizes.replicaSizes)}`]),
    ...(isLong ? (sizes.replicas ?? []) : []).map(
      ({ replica, sizes: own }) => `            ${printable(`${replica}: ${own}`)}`,
    ),
    ...(sizes.lastApplied === undefined ? [] : [`  applied   ${printable(sizes.lastApplied)}`]),
  ];
}

function renderDifference(difference: SizeDifference, style: Style, isLong: boolean, isForNobody: boolean): string[] {
  const { container, cpu, memory, why } = difference;
  const parts = [
    ...(cpu === undefined ? [] : [change('cpu', cpu)]),
    ...(memory === undefined ? [] : [change('memory', memory)]),
  ];
  const isSame = !isResized(difference);
  const verb = isForNobody
    ? 'for all   '
    : isSame
      ? `${style('good', 'keep')}      `
      : `${style('warning', 'resize')}    `;
  const note = isForNobody ? '; no replica has the size of all' : '';
  return [
    `  ${verb}${printable(container)}: ${printable(parts.join(', '))}${note}`,
    ...(isLong && why !== undefined ? [`            ${printable(why)}`] : []),
  ];
}

function change(label: string, { from, to }: { readonly from?: string; readonly to: string }): string {
  return from === to ? `${label} ${to}` : `${label} ${from ?? 'none'} -> ${to}`;
}

/** One line about all of them; none where there is no policy. */
export function summarizeSizes({ policies, workloads, isOn }: SizingPlan): string[] {
  if (policies.length === 0) return [];
  const count = (status: string): number => workloads.filter((each) => each.status === status).length;
  const invalid = policies.filter(({ problems }) => problems.length > 0);
  const unknown = workloads.filter(({ missing }) => missing !== undefined).length;
  return [
    `Rightsizing: ${counted(policies.length, 'policy').replace('policys', 'policies')}, ${counted(workloads.length, 'workload')}: ${count('Applied')} applied, ${count('Recommended')} recommended, ${count('Pending')} pending, ${count('Skipped') + count('Error')} held, ${unknown} without usage${isOn ? '' : '; off in this configuration (engines.rightsizing)'}.`,
    ...invalid.map(
      ({ policy, problems }) => `Policy ${printable(policy)} is not valid: ${printable(problems.join('; '))}`,
    ),
    ...policies.flatMap(({ policy, unread }) =>
      unread === undefined ? [] : [`Policy ${printable(policy)}: ${printable(unread)}`],
    ),
  ];
}
