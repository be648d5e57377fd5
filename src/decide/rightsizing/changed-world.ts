/**
 * What of a change under way still holds. It is carried out over minutes, and meanwhile people edit templates and
 * policies, autoscalers come, and usage goes on.
 */
import { sizeOfContainer, sizePaths } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { HoldReason } from './advice.ts';
import type { ChangeRules } from './policy.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { partsOf } from './side-by-side.ts';
import { changedResources, keysOf, type SizedPart, type WatchedChange } from './watched-change.ts';

type Change = Pick<WatchedChange, 'changes' | 'before'>;

/**
 * The parts for which other sizes are in force than the change left there: somebody put them there since, and means
 * what he wrote.
 * @param isWritten the change is in force; else only the first pod has it, and what was before is.
 */
export function outlivedParts(
  { changes, before }: Change,
  isWritten: boolean,
  inForce: readonly ContainerSpecRecord[],
): readonly SizedPart[] {
  return partsOf(changes).filter(({ container, resource }) => {
    const size = sizeOfContainer(inForce, container);
    const to = changes.find((change) => change.container === container)?.to ?? {};
    const left = isWritten ? to : (sizeOfContainer(before, container) ?? {});
    return size === undefined || keysOf[resource].some((key) => to[key] !== undefined && size[key] !== left[key]);
  });
}

/** Advice that is held for one of these is not to be acted upon, however long ago acting began. */
const forbidding: ReadonlySet<HoldReason> = new Set([
  'NoData',
  'Stale',
  'MemoryDecreaseNotAllowed',
  'MemoryDecreaseUnsafe',
  'HpaTarget',
  'HpaScalePoint',
  'GuaranteedKept',
  'CpuAllocated',
]);

/** Advice moves a little with every sample: where any change is worth making, this much is none all the same. */
const SAME_SHARE = 0.05;

/**
 * Whether what the first pod was given is advised to the others now, as a whole. An advice that has moved by less than
 * what is worth a change is the same advice.
 */
export function isStillAdvised(
  { changes, before }: Change,
  advice: readonly SizedAdvice[],
  rules: Readonly<Record<'cpu' | 'memory', { readonly change: Pick<ChangeRules, 'minChange' | 'minAmount'> }>>,
): boolean {
  return changes.every((change) => {
    const { container, to } = change;
    const had = sizeOfContainer(before, container) ?? {};
    const own = advice.find((each) => each.container === container);
    return changedResources(change).every((resource) => {
      const now = own?.[resource];
      if (now === undefined || (now.held !== undefined && forbidding.has(now.held))) return false;
      const { minChange, minAmount } = rules[resource].change;
      return keysOf[resource].every((key) => {
        const [from, given] = [had[key], to[key]];
        if (given === undefined) return true;
        const wanted = sizePaths[key].list === 'limits' ? now.limit : now.request;
        if (wanted === undefined) return false;
        if (from === undefined || given >= from) return wanted > (from ?? 0);
        return wanted <= given + Math.max(minAmount, given * Math.max(SAME_SHARE, minChange));
      });
    });
  });
}
