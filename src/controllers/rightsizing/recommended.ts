/** A recommendation as it is told: as a text, and whether it says something new to a person. */

import type { PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { containerRecommendation } from '../../decide/rightsizing/workload-status.ts';
import { pastTime } from '../../lib/past-time.ts';
import { renderReason } from '../../lib/reasons.ts';
import { parseTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { Advised } from './advise.ts';
import type { WorkloadMemory } from './memory.ts';
import { isForNobody } from './one-size.ts';
import type { RightsizingParts } from './parts.ts';

/** A recommendation moves a little with every sample; an event is for what a person would notice. */
const TELLING = 0.1;
/** Of advice that stays the same the time is renewed this often: the status is not written more often at rest. */
const RENEW_MILLIS: Millis = 3_600_000;

export type TellRecommendationOptions = Pick<RightsizingParts, 'events' | 'journal' | 'metrics' | 'clock'>;

/**
 * Counted and journalled when the text changes, an event when a person would notice.
 * @param before the entry that whoever led before has written; asked of at the first look.
 * @returns when the recommendation last changed, or was renewed.
 */
export type TellRecommendation = (
  advised: Advised,
  policy: ValidPolicy,
  memory: WorkloadMemory,
  before: PolicyWorkloadStatus | undefined,
) => EpochMillis | undefined;

/** Millicores and bytes. */
interface ToldTarget {
  readonly container: string;
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
}

interface Told {
  readonly text: string | undefined;
  readonly at: EpochMillis | undefined;
  /** What an event last told. */
  readonly targets: readonly ToldTarget[];
}

export function createTellRecommendation({
  events,
  journal,
  metrics,
  clock,
}: TellRecommendationOptions): TellRecommendation {
  const lastTold = new WeakMap<WorkloadMemory, Told>();
  return (advised, policy, memory, before) => {
    const { workload, advice, unread } = advised;
    const now = clock.now();
    const last = lastTold.get(memory) ?? {
      text: textOf(before?.recommendations ?? []),
      at: pastTime(parseTime(before?.lastRecommendation), now),
      targets: [],
    };
    const text = textOf(advice.map(containerRecommendation));
    const isNew = text !== undefined && text !== last.text;
    // While usage is read as it comes, advice that stays the same is advised anew.
    const isRenewed = text !== undefined && unread === undefined && now - (last.at ?? 0) >= RENEW_MILLIS;
    const told = { ...last, ...(isNew && { text }), ...((isNew || isRenewed) && { at: now }) };
    lastTold.set(memory, told);
    if (!isNew) return told.at;
    metrics.inc('optipod_recommendations_total', { policy: policy.name });
    const message = renderReason('RecommendationGenerated', { ...workload, changes: text });
    const targets = advice.map(({ container, cpu, memory: ram }) => ({
      container,
      cpu: cpu.target,
      memory: ram.target,
    }));
    if (isTelling(last.targets, targets)) {
      lastTold.set(memory, { ...told, targets });
      events.onWorkload(workload, { reason: 'RecommendationGenerated', message, lasts: isForNobody(advised) });
    }
    journal.record(workloadKey(workload), { kind: 'decided', reason: 'RecommendationGenerated', message });
    return told.at;
  };
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
function textOf(
  entries: readonly { readonly container: string; readonly cpu?: string; readonly memory?: string }[],
): string | undefined {
  const texts = entries.flatMap(({ container, cpu, memory }) => {
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
