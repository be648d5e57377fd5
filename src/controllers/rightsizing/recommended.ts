/** A recommendation as it is told: as a text, and whether it says something new to a person. */
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { containerRecommendation } from '../../decide/rightsizing/workload-status.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ToldTarget } from './memory.ts';

/** A recommendation moves a little with every sample; an event is for what a person would notice. */
const TELLING = 0.1;

export function targetsOf(advice: readonly SizedAdvice[]): readonly ToldTarget[] {
  return advice.map(({ container, cpu, memory }) => ({ container, cpu: cpu.target, memory: memory.target }));
}

/** @param told what an event last told. */
export function isTelling(told: readonly ToldTarget[], values: readonly ToldTarget[]): boolean {
  return values.some(({ container, cpu, memory }) => {
    const before = told.find((each) => each.container === container);
    return isTellingValue(before?.cpu, cpu) || isTellingValue(before?.memory, memory);
  });
}

/** What is not recommended any more is told by what holds it back. */
function isTellingValue(before: number | undefined, value: number | undefined): boolean {
  if (value === undefined) return false;
  return before === undefined || Math.abs(value - before) > TELLING * before;
}

/** `app: cpu 250m, memory 128Mi`; undefined where nothing is recommended. */
export function recommendationText(advice: readonly SizedAdvice[]): string | undefined {
  return recommendedBefore(advice.map(containerRecommendation));
}

/** The same of the entries of a status, which whoever led before has written. */
export function recommendedBefore(
  entries: readonly { readonly container: string; readonly cpu?: string; readonly memory?: string }[] | undefined,
): string | undefined {
  const texts = (entries ?? []).flatMap(({ container, cpu, memory }) => {
    const values = [
      ...(cpu === undefined ? [] : [`cpu ${cpu}`]),
      ...(memory === undefined ? [] : [`memory ${memory}`]),
    ];
    return values.length === 0 ? [] : [`${container}: ${values.join(', ')}`];
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** Why these containers are to have what they get, stage by stage: `app: cpu: target: P90 of usage 200m times 1.20, ...`. */
export function whyOf(advice: readonly SizedAdvice[], changes: readonly SizeChange[]): string {
  return advice
    .filter(({ container }) => changes.some((change) => change.container === container))
    .map((each) => `${each.container}: ${containerRecommendation(each).explanation}`)
    .join('; ');
}
