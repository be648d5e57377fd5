/**
 * Which of the computed changes are written. A loop that writes every ripple wears out the API server, one that holds
 * back what a raise needs starves it: so spacing binds only changes by choice, and what pays for others is bound by
 * neither.
 */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import type { HoldReason, PodTarget } from './node-input.ts';
import type { GroupCap } from './problem.ts';
import type { WriteRules } from './rules.ts';

export interface Change {
  readonly uid: string;
  readonly before: { readonly request: Millicores; readonly limit: Millicores | undefined };
  readonly after: PodTarget;
  /** What is bargained for: request, or limit with `apply: limits`. */
  readonly share: { readonly before: Millicores; readonly after: Millicores };
  readonly want: Millicores;
  /** Throttled or under pressure, and not greedy. */
  readonly isShort: boolean;
  /** Uses what it has, so that any raise helps. */
  readonly isAtShare: boolean;
  /** Uses so little of it, and has what its user asked for, so that a raise would change nothing. */
  readonly hasRoom: boolean;
  readonly isGreedy: boolean;
  /** What it has holds it back, or others: a limit. A request that nobody waits for is as good as any. */
  readonly isBinding: boolean;
  readonly bandFactor: number;
  readonly writes: readonly EpochMillis[];
  /** Nothing may be written for this pod, whatever is computed. */
  readonly blocked: 'Frozen' | 'Unmeasured' | undefined;
}

export interface Verdict {
  readonly isWritten: boolean;
  readonly held: HoldReason | undefined;
  readonly isForced: boolean;
  readonly isFunding: boolean;
}

const MINUTE = 60_000;

/**
 * One verdict a change, in order. @param capacity what the shares may add up to. @param groups and those of some pods
 * among themselves, by uid.
 */
export function filterWrites(
  changes: readonly Change[],
  capacity: Millicores,
  rules: WriteRules,
  now: EpochMillis,
  groups: readonly Pick<GroupCap, 'cap' | 'members'>[] = [],
): readonly Verdict[] {
  const verdicts = changes.map((change) => judgeAlone(change, rules, now));
  const mayWrite = (change: Change): boolean => recentWrites(change.writes, now).length < rules.perMinute;
  // What is free on the node is no room in a quota: there its own pods pay.
  for (const { cap, members } of groups) {
    const own = new Set(members);
    const indexes = [...changes.keys()].filter((index) => own.has(changes[index]?.uid ?? ''));
    fundRaises(changes, indexes, verdicts, cap, mayWrite);
  }
  fundRaises(changes, [...changes.keys()], verdicts, capacity, mayWrite);
  return verdicts;
}

function judgeAlone(change: Change, rules: WriteRules, now: EpochMillis): Verdict {
  const hold = (held: HoldReason): Verdict => ({ isWritten: false, held, isForced: false, isFunding: false });
  const { before, after, share, isShort, writes, blocked } = change;
  const limitAfter = after.limitPolicy === 'Keep' ? before.limit : after.limit;
  if (after.request === before.request && limitAfter === before.limit) return hold('Settled');
  if (blocked !== undefined) return hold(blocked);
  const growth = share.after - share.before;
  if (!isWorthIt(change, limitAfter, rules)) return hold('DeadBand');
  if (recentWrites(change.writes, now).length >= rules.perMinute) return hold('RateLimit');
  if (isShort && growth > 0) return { isWritten: true, held: undefined, isForced: true, isFunding: false };
  if (growth > 0 && change.hasRoom) return hold('HasRoom');
  if (growth > 0 && !change.isAtShare && growth < rules.minGranted * (change.want - share.before))
    return hold('PartialRaise');
  if (growth < 0 && !change.isBinding) return hold('NotNeeded');
  const spacing = growth > 0 ? rules.spacingUpMillis : rules.spacingDownMillis;
  const last = writes.at(-1);
  if (last !== undefined && Math.abs(now - last) < spacing) return hold('Spacing');
  return { isWritten: true, held: undefined, isForced: false, isFunding: false };
}

/** Of the last minute. Instants far ahead of now are from before the machine's clock was set back. */
export function recentWrites(writes: readonly EpochMillis[], now: EpochMillis): EpochMillis[] {
  return writes.filter((at) => Math.abs(now - at) < MINUTE);
}

function isWorthIt(
  { before, after, bandFactor, isGreedy }: Change,
  limitAfter: number | undefined,
  rules: WriteRules,
): boolean {
  const exceeds = (from: Millicores, to: Millicores): boolean => {
    const up = isGreedy ? Math.max(rules.minShare, rules.minShareGreedy) : rules.minShare;
    const share = to < from ? Math.max(rules.minShare, rules.minShareDown) : up;
    return Math.abs(to - from) >= bandFactor * Math.max(rules.minChange, share * from);
  };
  if (exceeds(before.request, after.request)) return true;
  if (limitAfter === undefined) return false;
  // A first ceiling, and a limit that a raised request would pass, are never too small a change.
  return before.limit === undefined || before.limit <= after.request || exceeds(before.limit, limitAfter);
}

/**
 * Raises are paid for by decreases: the largest that were held back are let go until the sum fits; else raises wait.
 */
function fundRaises(
  changes: readonly Change[],
  indexes: readonly number[],
  verdicts: Verdict[],
  capacity: Millicores,
  mayWrite: (change: Change) => boolean,
): void {
  const growthOf = (index: number): number => {
    const share = changes[index]?.share;
    return share === undefined ? 0 : share.after - share.before;
  };
  const isWritten = (index: number): boolean => verdicts[index]?.isWritten === true;
  const held = indexes.reduce((sum, index) => sum + (changes[index]?.share.before ?? 0), 0);
  const raised = indexes.filter((index) => isWritten(index) && growthOf(index) > 0);
  const needed = raised.reduce((sum, index) => sum + growthOf(index), 0);
  let missing = held + needed - capacity;
  if (missing <= 0) return;
  const payers = indexes
    .filter((index) => {
      const change = changes[index];
      return change !== undefined && growthOf(index) < 0 && change.blocked === undefined && mayWrite(change);
    })
    .sort((a, b) => Number(isWritten(b)) - Number(isWritten(a)) || growthOf(a) - growthOf(b));
  for (const index of payers) {
    if (missing <= 0) break;
    verdicts[index] = { isWritten: true, held: undefined, isForced: false, isFunding: true };
    missing += growthOf(index);
  }
  // What cannot be paid for waits: raises by choice first, the smallest of them last.
  const byChoice = (index: number): number => Number(verdicts[index]?.isForced === true);
  raised.sort((a, b) => byChoice(a) - byChoice(b) || growthOf(b) - growthOf(a));
  for (const index of raised) {
    if (missing <= 0) break;
    verdicts[index] = { isWritten: false, held: 'Unfunded', isForced: false, isFunding: false };
    missing -= growthOf(index);
  }
}
