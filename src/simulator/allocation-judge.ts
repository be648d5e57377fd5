/** Holds allocation to giving back what nobody vouches for any more: pods of a node whose agent is dead. */
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import { isFinished, isTerminating } from '../cluster/pod-state.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { parseQuantity, toMillicores } from '../lib/quantity.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { chargeOf, sizeOf } from './container-sizes.ts';
import type { Ledger } from './ledger.ts';
import { type Tree, treeAt } from './policy-book.ts';
import { isRivals } from './rivals.ts';

export interface AllocationJudgeOptions {
  readonly caches: Caches;
  readonly config: Config;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly deadSince: (node: string) => EpochMillis | undefined;
}

/** For the leader to notice, and to resize pod by pod. */
const RETURN_MILLIS: Millis = 240_000;

/** @returns the look, with since when the operator has worked undisturbed. */
export function createAllocationJudge({
  caches,
  config,
  clock,
  ledger,
  deadSince,
}: AllocationJudgeOptions): (calmSince: EpochMillis) => void {
  const { engines, allocation, operator } = config;
  const isWriting = engines.allocation && allocation.apply !== 'observe' && !operator.readOnlyMode;

  /** What the pod asks for less than before allocation came, by container; empty where it has it back. */
  const missingOf = (pod: Pod, originals: Tree): number =>
    (pod.spec?.containers ?? []).reduce((sum, container) => {
      const before = treeAt(originals, container.name, 'requests')['cpu'];
      if (typeof before !== 'string') return sum;
      return sum + toMillicores(parseQuantity(before)) - (sizeOf(container).get('cpu request') ?? 0);
    }, 0);

  const roomOn = (node: string): number => {
    const allocatable = caches.of(resources.nodes).get(node)?.status?.allocatable?.['cpu'];
    if (allocatable === undefined) return 0;
    const pods = [...caches.podsOnNode(node)].filter((pod) => !isFinished(pod));
    return toMillicores(parseQuantity(allocatable)) - pods.reduce((sum, pod) => sum + chargeOf(pod, 'cpu'), 0);
  };

  return (calmSince) => {
    if (!isWriting) return;
    for (const pod of caches.of(resources.pods).all()) {
      const text = pod.metadata?.annotations?.[sizingKeys.allocationOriginals];
      const node = pod.spec?.nodeName ?? '';
      const since = deadSince(node);
      if (text === undefined || since === undefined || isTerminating(pod) || isFinished(pod)) continue;
      // What another writer sizes is left to that.
      if (isRivals(pod)) continue;
      if (clock.now() - Math.max(since, calmSince) < allocation.staleAfter + RETURN_MILLIS) continue;
      const missing = missingOf(pod, JSON.parse(text) as Tree);
      const isBack = missing === 0 || missing > roomOn(node);
      const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
      ledger.check('returned', isBack, () => `${name} lacks ${missing}m, and no agent lives on ${node}`);
    }
  };
}
