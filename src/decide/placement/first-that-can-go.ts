/** One pod that cannot go holds up no other that can (Spotalis B21): those of one workload are not all alike. */
import { ordinalOf } from '../../model/owners.ts';
import type { PodRecord, Side } from '../../model/records.ts';
import { wouldChangeRevision } from '../../model/rollout.ts';
import { roomForReplacement } from '../../model/room-for-replacement.ts';
import type { PlanInput } from './plan.ts';

type Holder = { readonly pod: PodRecord };

/** Each may cost a look at every node. */
const LOOKED_AT = 20;

/**
 * The first of the candidates whose volumes can follow it to the side and whose replacement is of its own revision. Where
 * none is found it is the first of all: the guards, who have the last word on either, then say why it stays.
 * @param pods all of the workload.
 */
export function firstThatCanGo<Candidate extends Holder>(
  { view, sides, workload }: PlanInput,
  candidates: readonly Candidate[],
  pods: readonly Holder[],
  side: Side,
): Candidate | undefined {
  const all = pods.map(({ pod }) => pod);
  const canGo = ({ pod }: Candidate): boolean =>
    !wouldChangeRevision(workload, pod, ordinalOf(pod.name, workload.name)) &&
    (pod.claims.length === 0 || roomForReplacement(view, sides, { workload, pod, pods: all, side }).kind !== 'none');
  return candidates.slice(0, LOOKED_AT).find(canGo) ?? candidates[0];
}
