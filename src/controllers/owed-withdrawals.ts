/**
 * Withdrawals that did not go through. What is not taken back holds its room on the node, and no other resize of the pod
 * is begun meanwhile: so what only a moment speaks against, as caches that are stale, is tried again.
 */
import type { ReadAnswer } from '../act/resize-answers.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { isSettled } from '../model/granted-size.ts';
import { otherResizer } from '../model/size-managers.ts';
import type { SizingView } from '../model/sizing-view.ts';
import { withdrawalOf } from './follow-resize.ts';

/** Of one engine in this process. */
export interface OwedWithdrawals {
  /** Call with what became of one: a guard objected, or the API server refused it, or it is on its way. */
  note(withdrawal: ResizeDecision, attempt: Attempt): void;
  /**
   * Those whose time has come, as their pods ask for it now; what need not be taken back any more is forgotten. Each is
   * to be sent and noted.
   */
  due(): readonly ResizeDecision[];
}

interface Attempt {
  readonly kind: string;
  readonly answer?: Pick<ReadAnswer, 'action'>;
}

export interface OwedWithdrawalsOptions {
  readonly view: Pick<SizingView, 'pod'>;
  readonly isResizing: (podUid: string) => boolean;
  readonly clock: Clock;
}

/** Until the first try; doubles. */
const FIRST_PAUSE: Millis = 15_000;
const LONGEST_PAUSE: Millis = 600_000;

interface Owed {
  readonly withdrawal: ResizeDecision;
  readonly tries: number;
  readonly at: EpochMillis;
}

export function createOwedWithdrawals({ view, isResizing, clock }: OwedWithdrawalsOptions): OwedWithdrawals {
  /** By uid of the pod. */
  const owed = new Map<string, Owed>();

  const again = ({ withdrawal }: Owed): ResizeDecision | undefined => {
    const { namespace, name, uid } = withdrawal.pod;
    const found = view.pod(namespace, name);
    // What is waited for now may be somebody else's.
    if (found?.pod.uid !== uid || isSettled(found.sizing) || otherResizer(found.sizing) !== undefined) return undefined;
    return withdrawalOf(found, withdrawal, withdrawal.why.summary);
  };

  return {
    note(withdrawal, { kind, answer }) {
      const { uid } = withdrawal.pod;
      const isOwed = kind === 'blocked' || (kind === 'refused' && answer?.action !== 'give-up');
      if (!isOwed) {
        owed.delete(uid);
        return;
      }
      const tries = (owed.get(uid)?.tries ?? 0) + 1;
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1));
      owed.set(uid, { withdrawal, tries, at: clock.now() + pause });
    },
    due() {
      const now = clock.now();
      return [...owed].flatMap(([uid, each]) => {
        // Whether one that broke off was made, or another resize is granted, shows first.
        if (now < each.at || isResizing(uid)) return [];
        const withdrawal = again(each);
        // Others may ask before this one is noted.
        if (withdrawal === undefined) owed.delete(uid);
        else owed.set(uid, { ...each, at: now + FIRST_PAUSE });
        return withdrawal ?? [];
      });
    },
  };
}
