/**
 * What is watched of one workload: changes from the first pod that has them until the harm they could do would have been
 * seen, and what did harm and some pod still has.
 */
import { outlivedParts } from '../../decide/rightsizing/changed-world.ts';
import { type ChangeInPhase, partsOf, withoutParts } from '../../decide/rightsizing/side-by-side.ts';
import {
  includesPart,
  isDecrease,
  type SizedPart,
  type WatchedChange,
  watchMillis,
  whileAsked,
  whileRolledOut,
} from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { nothingSeen, type ThrottlingSeen } from './throttling.ts';

/** A change that was begun and is not yet behind us. */
export interface OngoingChange extends WatchedChange, ChangeInPhase {
  readonly method: 'InPlace' | 'Recreate' | 'Evict';
  /** The pod that has it first, and since when. */
  readonly canary: { readonly uid: string; readonly name: string; readonly at: EpochMillis } | undefined;
  /** Whether a lower CPU limit holds its containers back. */
  readonly throttling: ThrottlingSeen;
  /** Until then some pods were yet to have it: by new pods that takes as long as budgets make it. */
  readonly spreadingUntil?: EpochMillis;
  /** Its own rollout was seen to be over; left out: it was not. */
  readonly isOut?: true;
}

/** Of a workload that is rolled out, whether that is the rollout of the change itself. */
export function isOwnRollout({ method, isOut }: OngoingChange): boolean {
  return method === 'Recreate' && isOut !== true;
}

export interface WatchState {
  /** The oldest first; no two of them are about the same resource of a container. */
  readonly ongoing: readonly OngoingChange[];
  /** What did harm, as long as some pod still has it. */
  readonly takenBack: readonly SizedPart[];
}

export class Watches implements WatchState {
  #ongoing: readonly OngoingChange[] = [];
  #takenBack: readonly SizedPart[] = [];
  #isResumed = false;

  get ongoing(): readonly OngoingChange[] {
    return this.#ongoing;
  }

  get takenBack(): readonly SizedPart[] {
    return this.#takenBack;
  }

  /** Goes on with what the last leader watched. Reads it once, unless {@link checkpoint} asks for it again. */
  resume(read: () => WatchState): void {
    if (this.#isResumed) return;
    this.#isResumed = true;
    const { ongoing, takenBack } = read();
    this.#ongoing = ongoing;
    this.#takenBack = takenBack;
  }

  /**
   * @returns what goes back to how it is now, where what was to be written since could not be. But where only its answer
   * was lost (`isUncertain`) it is in force: the next look reads what is watched from the workload.
   */
  checkpoint(): (isUncertain: boolean) => void {
    const [ongoing, takenBack] = [this.#ongoing, this.#takenBack];
    return (isUncertain) => {
      this.#ongoing = ongoing;
      this.#takenBack = takenBack;
      if (isUncertain) this.#isResumed = false;
    };
  }

  /** What is about the same resources is no longer looked after. */
  begin(begun: Omit<OngoingChange, 'throttling'>): OngoingChange {
    const change = { ...begun, throttling: nothingSeen() };
    this.#ongoing = [...withoutParts(this.#ongoing, partsOf(change.changes)), change];
    return change;
  }

  /** The pod is asked for these: restarts that follow from it are no harm of what is watched. */
  noteAsked(pod: SizedPod, changes: readonly SizeChange[]): void {
    this.#ongoing = this.#ongoing.map((each) => whileAsked(each, pod, changes));
  }

  /** The rollouts of these changes are over: what comes from now on is none of their own. */
  noteRolloutOver(isOver: (change: OngoingChange) => boolean): void {
    const isNews = (each: OngoingChange): boolean => isOwnRollout(each) && isOver(each);
    if (!this.#ongoing.some(isNews)) return;
    this.#ongoing = this.#ongoing.map((each) => (isNews(each) ? { ...each, isOut: true } : each));
  }

  /** Somebody rolls out another template. @param isForeign a change that has no part in it. */
  noteRolledOut(pods: readonly SizedPod[], isForeign: (change: OngoingChange) => boolean): void {
    const next = this.#ongoing.map((each) => (isForeign(each) ? whileRolledOut(each, pods) : each));
    // Others tell by the list whether anything has changed.
    if (next.some((each, index) => each !== this.#ongoing[index])) this.#ongoing = next;
  }

  /** All pods are to have it from now on. */
  spread(change: OngoingChange): void {
    this.#ongoing = this.#ongoing.map((each) => (each === change ? { ...change, phase: 'spread' } : each));
  }

  /** It is behind us, or came to nothing. */
  end(change: OngoingChange): void {
    this.#ongoing = this.#ongoing.filter((each) => each !== change);
  }

  /** These parts of the change did harm; the rest of it is watched on. */
  takeBack(change: OngoingChange, parts: readonly SizedPart[]): void {
    this.#takenBack = [...this.#takenBack, ...parts];
    this.#ongoing = this.#ongoing.flatMap((each) => (each === change ? withoutParts([each], parts) : [each]));
  }

  /** No pod has any more what did harm. @param parts of these alone, others being left. */
  forgetHarm(parts = this.#takenBack): void {
    this.#takenBack = this.#takenBack.filter((each) => !includesPart(parts, each));
  }

  /** What only the first pod was given in place is written nowhere, and given to no new pod. */
  dropUnspread(): void {
    this.#ongoing = this.#ongoing.filter(({ method, phase }) => method !== 'InPlace' || phase !== 'canary');
  }

  /**
   * Forgets what somebody has put other sizes in force for since: applied or taken back, it would undo what he wrote. To
   * be called at each look before anything is done.
   * @param isTemplateDue a template was written that the view may not show yet.
   */
  dropOutlived(inForce: readonly ContainerSpecRecord[], isTemplateDue: boolean): void {
    this.#ongoing = this.#ongoing.flatMap((each): readonly OngoingChange[] => {
      if (each.method === 'Recreate' && isTemplateDue) return [each];
      const isWritten = each.method !== 'InPlace' || each.phase === 'spread';
      const parts = outlivedParts(each, isWritten, inForce);
      if (parts.length === 0) return [each];
      // What only the first pod has goes on as a whole, or not at all.
      return isWritten ? withoutParts([each], parts) : [];
    });
  }

  /**
   * Forgets what is behind us.
   * @param isEverywhere every pod has it; a decrease, and what is rolled out, is watched on until then.
   */
  review(isEverywhere: (change: OngoingChange) => boolean, now: EpochMillis, revertMillis: Millis): void {
    this.#ongoing = this.#ongoing.flatMap((each): readonly OngoingChange[] => {
      if (each.phase === 'canary' && each.method === 'InPlace') return [each];
      const isLookedAfter = isDecrease(each) || isOwnRollout(each);
      if (isLookedAfter && !isEverywhere(each)) return [{ ...each, spreadingUntil: now }];
      return now < watchEndsAt(each, revertMillis) ? [each] : [];
    });
  }
}

/** Since when its pods have all had it. */
export function watchedSince({ startedAt, spreadingUntil = 0 }: OngoingChange): EpochMillis {
  return Math.max(startedAt, spreadingUntil);
}

export function watchEndsAt(change: OngoingChange, revertMillis: Millis): EpochMillis {
  return watchedSince(change) + watchMillis(change, revertMillis);
}
