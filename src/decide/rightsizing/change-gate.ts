/** Whether a new value is worth a change: hysteresis, so that a request does not follow every ripple of usage. */
import { percentText } from '../../lib/percent-text.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { HoldReason } from './advice.ts';
import type { ChangeRules } from './policy.ts';

export interface ChangeQuestion {
  /** What is requested now; undefined: nothing, and any value is better. */
  readonly current: number | undefined;
  readonly advised: number;
  readonly lastChangeAt: EpochMillis | undefined;
  readonly now: EpochMillis;
  /** By how much the change lowers the expected cost, as a share, and how much it must; undefined: not priced. */
  readonly gain: { readonly actual: number; readonly needed: number } | undefined;
}

export interface ChangeVerdict {
  readonly isDue: boolean;
  readonly held: HoldReason | undefined;
  /** When the pause is over that holds it back; undefined: it is nothing of the kind. */
  readonly readyAt?: EpochMillis;
  readonly text: string;
}

export function judgeChange(question: ChangeQuestion, rules: ChangeRules): ChangeVerdict {
  const { current, advised, lastChangeAt, now, gain } = question;
  if (current === undefined) return { isDue: true, held: undefined, text: 'there is no request yet' };
  const hold = (held: HoldReason, text: string): ChangeVerdict => ({ isDue: false, held, text });
  // A request of 0 may be written on purpose; whatever is more of it has no ratio to it.
  const change = current === 0 ? Number.POSITIVE_INFINITY : Math.abs(advised - current) / current;
  // Equal values never act, whatever the threshold.
  if (advised === current) return hold('WithinMinChange', 'equal to the current request');
  if (change < rules.minChange) {
    return hold(
      'WithinMinChange',
      `${percentText(change, 1)} from the current request, less than ${percentText(rules.minChange, 1)}`,
    );
  }
  if (Math.abs(advised - current) < rules.minAmount) {
    return hold(
      'WithinMinChange',
      `${Math.abs(advised - current)} from the current request, less than ${rules.minAmount}`,
    );
  }
  if (gain !== undefined && gain.actual < gain.needed) {
    return hold(
      'GainTooSmall',
      `saves ${percentText(gain.actual, 1)} of the expected cost, less than ${percentText(gain.needed, 1)}`,
    );
  }
  const cooldown = advised > current ? rules.cooldownUpMillis : rules.cooldownDownMillis;
  const readyAt = (lastChangeAt ?? Number.NEGATIVE_INFINITY) + cooldown;
  if (now < readyAt) {
    const way = advised > current ? 'up' : 'down';
    return { ...hold('Cooldown', `no change ${way} until ${new Date(readyAt).toISOString()}`), readyAt };
  }
  return {
    isDue: true,
    held: undefined,
    text:
      current === 0 ? 'up from 0' : `${percentText(change, 1)} ${advised > current ? 'up' : 'down'} from ${current}`,
  };
}
