/**
 * Signs of life: while nothing changes, one PodAllocation of the node in turn is written again as it is. Readers see the node's
 * objects change and know that its agent lives, for one write per node and interval however many pods there are.
 */
import type { EpochMillis } from '../lib/units.ts';
import { allocationObject, decisionOf } from './allocation-object.ts';
import type { NodeStores } from './node-stores.ts';
import { notedOriginal } from './original.ts';
import type { IntendedWrite, Tick } from './planner.ts';

export interface Renewal {
  /** The next in turn with the wish it carries and the newest figures; undefined where there is none. */
  next(tick: Tick, wall: EpochMillis): IntendedWrite | undefined;
}

export function createRenewal(options: {
  readonly nodeName: string;
  readonly stores: Pick<NodeStores, 'allocation'>;
}): Renewal {
  let lastUid = '';
  return {
    next({ plan, measured }, wall) {
      const candidates = plan.pods.filter(({ uid }) => options.stores.allocation(uid) !== undefined);
      const chosen = candidates.find(({ uid }) => uid > lastUid) ?? candidates[0];
      const spec = chosen === undefined ? undefined : options.stores.allocation(chosen.uid)?.spec;
      if (chosen === undefined || spec === undefined) return undefined;
      lastUid = chosen.uid;
      const { desiredCPURequest, desiredCPULimit, limitPolicy } = spec;
      const desired = { desiredCPURequest, desiredCPULimit, ...(limitPolicy !== undefined && { limitPolicy }) };
      const object = allocationObject({
        pod: chosen,
        nodeName: options.nodeName,
        desired,
        original: notedOriginal(spec),
        decision: decisionOf(chosen, plan, measured.get(chosen.uid)),
        now: wall,
      });
      return { podUid: chosen.uid, object, desired, growth: 0, why: 'renewed' };
    },
  };
}
