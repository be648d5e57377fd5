/** What is worth saying about spot in the plan of a workload. */
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { PlanInput, PlanNote, WorkloadPlan } from './plan.ts';
import { poolsToAvoid } from './pool-preference.ts';

/** @param fallbackDueAt when the next waiting pod is recreated on on-demand. */
export function noteSpot(
  input: PlanInput,
  { state, covered }: WorkloadPlan['spot'],
  fallbackDueAt: EpochMillis | undefined,
): PlanNote[] {
  const notes: PlanNote[] = [];
  const note = (text: string): void => void notes.push({ reason: undefined, text });
  if (covered > 0) note(`${covered} on on-demand as temporary cover for spot`);
  if (state.kind === 'closed') note(`spot had no room; it is tried again at ${at(state.until)}`);
  if (state.kind === 'probing') {
    note(state.isTaken ? 'spot is being tried with one pod' : 'spot may be tried again with one pod');
  }
  if (fallbackDueAt !== undefined) {
    note(`the next pod that waits for spot is recreated on on-demand at ${at(fallbackDueAt)}`);
  }
  const storm = input.spot?.storm(input.now);
  if (storm !== undefined) {
    const values = { interruptions: storm.lost, period: 'a short time', calmAt: at(storm.calmAt) };
    note(renderReason('StormCalm', values));
  }
  for (const { key, why } of poolsToAvoid(input, input.workload)) note(`new pods avoid spot pool ${key}: ${why}`);
  return notes;
}

function at(instant: EpochMillis): string {
  return new Date(instant).toISOString();
}
