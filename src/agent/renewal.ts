/**
 * Signs of life: while nothing changes, one PodAllocation of the node in turn is annotated with the time. Readers see
 * the node's objects change and know that its agent lives, for one write per node and interval however many pods there
 * are; as the spec stays as it is, nobody has to answer. Where the figures of an allocation are out of date, the sign
 * is its spec with newer ones instead.
 */
import { type PodAllocation, RENEWED_ANNOTATION } from '../api/pod-allocation.ts';
import type { NodePlan, PodPlan } from '../decide/allocation/node-input.ts';
import { ascending } from '../lib/ascending.ts';
import type { EpochMillis } from '../lib/units.ts';
import { isoText } from '../lib/utc-text.ts';
import { allocationObject, decisionOf } from './allocation-object.ts';
import type { KnownAllocation, NodeStores } from './node-stores.ts';
import { notedOriginal } from './original-cpu.ts';
import type { IntendedWrite, Tick } from './planner.ts';
import { isOutdated, toldFigures } from './told-figures.ts';

/** Asked when nothing else was written for `allocation.renewInterval`. */
export interface Renewal {
  /**
   * The next in turn; where no pod takes part, of one that did, or it would be missed. Undefined where there is none.
   * @param mayWrite whether writes to a namespace are taken at the moment.
   */
  next(tick: Tick, wall: EpochMillis, mayWrite: (namespace: string) => boolean): IntendedWrite | undefined;
}

interface Candidate {
  readonly pod: PodPlan;
  readonly known: KnownAllocation;
}

export function createRenewal(options: {
  readonly nodeName: string;
  readonly stores: Pick<NodeStores, 'allocation' | 'allocations'>;
}): Renewal {
  const { nodeName, stores } = options;
  let lastUid = '';
  /** The last one that was to have newer figures. */
  let tried: Candidate | undefined;

  /** Those with an allocation, from the one after the last on. */
  const inTurn = ({ pods }: NodePlan, mayWrite: (namespace: string) => boolean): readonly Candidate[] => {
    const all = pods
      .flatMap((pod): Candidate[] => {
        const known = stores.allocation(pod.uid);
        return known === undefined || !mayWrite(pod.namespace) ? [] : [{ pod, known }];
      })
      .sort((left, right) => ascending(left.pod.uid, right.pod.uid));
    const next = all.findIndex(({ pod }) => pod.uid > lastUid);
    return next <= 0 ? all : [...all.slice(next), ...all.slice(0, next)];
  };

  /** Nothing of it is changed. */
  const keep = (uid: string, { spec: { desiredCPURequest, desiredCPULimit, limitPolicy } }: KnownAllocation) => {
    const desired = { desiredCPURequest, desiredCPULimit, ...(limitPolicy !== undefined && { limitPolicy }) };
    return { podUid: uid, desired, growth: 0, why: 'renewed' } as const;
  };
  const ofSomePod = (wall: EpochMillis, mayWrite: (namespace: string) => boolean): IntendedWrite | undefined => {
    const left = [...stores.allocations()]
      .filter(([, { namespace }]) => mayWrite(namespace))
      .sort(([one], [other]) => ascending(one, other));
    const next = left.find(([uid]) => uid > lastUid) ?? left[0];
    if (next === undefined) return undefined;
    const [uid, known] = next;
    lastUid = uid;
    return { ...keep(uid, known), object: signOfLife({ uid, namespace: known.namespace }, wall), isAnnotation: true };
  };

  return {
    next({ plan, measured }, wall, mayWrite) {
      const candidates = inTurn(plan, mayWrite);
      const figuresOf = ({ pod }: Candidate) => decisionOf(pod, plan, measured.get(pod.uid));
      // Where those were not taken, it is time for a sign that is.
      const isRefused = tried !== undefined && stores.allocation(tried.pod.uid) === tried.known;
      const outdated = isRefused
        ? undefined
        : candidates.find((each) => isOutdated(each.known.told, toldFigures(figuresOf(each))));
      tried = outdated;
      const chosen = outdated ?? candidates[0];
      if (chosen === undefined) return ofSomePod(wall, mayWrite);
      const { pod, known } = chosen;
      lastUid = pod.uid;
      const renewed = keep(pod.uid, known);
      if (outdated === undefined) return { ...renewed, object: signOfLife(pod, wall), isAnnotation: true };
      const original = notedOriginal(known.spec);
      const decision = figuresOf(chosen);
      const { desired } = renewed;
      return { ...renewed, object: allocationObject({ pod, nodeName, desired, original, decision, now: wall }) };
    },
  };
}

/** Metadata only: merged into the object, so that its generation stays. */
function signOfLife({ uid, namespace }: Pick<PodPlan, 'uid' | 'namespace'>, now: EpochMillis): PodAllocation {
  return { metadata: { name: uid, namespace, annotations: { [RENEWED_ANNOTATION]: isoText(now) } } };
}
