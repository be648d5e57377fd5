/** A recommendation as it is told: as a text, and whether it says something new to a person. */

import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { containerRecommendation } from '../../decide/rightsizing/workload-status.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { Advised } from './advise.ts';
import type { ToldTarget, WorkloadMemory } from './memory.ts';
import { isForNobody } from './one-size.ts';

/** A recommendation moves a little with every sample; an event is for what a person would notice. */
const TELLING = 0.1;
/** Of advice that stays the same the time is renewed this often: the status is not written more often at rest. */
const RENEW_MILLIS: Millis = 3_600_000;

export interface TellRecommendationOptions {
  readonly events: Pick<Events, 'onWorkload'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Counted and journalled when the text changes, an event when a person would notice. */
export type TellRecommendation = (advised: Advised, policy: ValidPolicy, memory: WorkloadMemory) => void;

export function createTellRecommendation({
  events,
  journal,
  metrics,
  clock,
}: TellRecommendationOptions): TellRecommendation {
  return (advised, policy, memory) => {
    const { workload, advice, unread } = advised;
    const text = recommendationText(advice);
    if (text === undefined) return;
    const now = clock.now();
    const isNew = text !== memory.recommended;
    // While usage is read as it comes, advice that stays the same is advised anew.
    const isRenewed = unread === undefined && now - (memory.lastRecommendation ?? 0) >= RENEW_MILLIS;
    if (isNew || isRenewed) memory.lastRecommendation = now;
    if (!isNew) return;
    memory.recommended = text;
    metrics.inc('optipod_recommendations_total', { policy: policy.name });
    const message = renderReason('RecommendationGenerated', { ...workload, changes: text });
    const values = targetsOf(advice);
    if (isTelling(memory.told, values)) {
      memory.told = values;
      events.onWorkload(workload, { reason: 'RecommendationGenerated', message, lasts: isForNobody(advised) });
    }
    journal.record(workloadKey(workload), { kind: 'decided', reason: 'RecommendationGenerated', message });
  };
}

function targetsOf(advice: readonly SizedAdvice[]): readonly ToldTarget[] {
  return advice.map(({ container, cpu, memory }) => ({ container, cpu: cpu.target, memory: memory.target }));
}

/** @param told what an event last told. */
function isTelling(told: readonly ToldTarget[], values: readonly ToldTarget[]): boolean {
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
function recommendationText(advice: readonly SizedAdvice[]): string | undefined {
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
