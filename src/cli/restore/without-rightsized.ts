/** What allocation has to give back of a pod that rightsizing gives back as well. */
import { originalsKeys } from '../../api/annotations-sizing.ts';
import type { RestorePlan } from '../../decide/restore-size.ts';
import { parseOriginals } from '../../model/original-sizes.ts';
import { type SizeKey, sizeKeys } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

/**
 * The plan of allocation without the amounts that rightsizing has kept: these are from before both engines, while what allocation found
 * may be what rightsizing had given.
 */
export function withoutRightsized(plan: RestorePlan, { sizing }: SizedPod): RestorePlan {
  const kept = parseOriginals(sizing.marks[originalsKeys.rightsizing] ?? '');
  if (plan.kind !== 'resize' || kept === undefined) return plan;
  const changes = plan.decision.changes.flatMap(({ container, to }) => {
    const own: { -readonly [Key in SizeKey]?: number } = {};
    for (const key of sizeKeys) {
      const amount = to[key];
      if (amount !== undefined && kept.get(container)?.[key] === undefined) own[key] = amount;
    }
    return Object.keys(own).length === 0 ? [] : [{ container, to: own }];
  });
  if (changes.length === 0) return { kind: 'nothing', isKept: true };
  return { ...plan, decision: { ...plan.decision, changes } };
}
