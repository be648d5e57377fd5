/**
 * Fairness: in which order those who want to disrupt compete for the cluster-wide budget. Engines take turns, and
 * within an engine workloads do.
 */
import type { Decision } from '../decide/decision.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import { ascending } from '../lib/ascending.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { DisruptionHistory } from './history.ts';

/** What takes turns with the others: rollouts, restarts and evictions of one engine are one asker. */
export type DisruptingEngine = (Decision | EvictToResizeDecision)['engine'];

export interface Candidate {
  readonly engine: DisruptingEngine;
  /** `Deployment/shop/web`. */
  readonly key: string;
  readonly workloadUid: string;
  /** Pods that are to be disrupted in the end, and replicas. */
  readonly drift: number;
  readonly replicas: number;
  /** It puts back what did harm: until then pods suffer from what Stowage did to them. */
  readonly isRestore?: boolean;
}

/** When an engine last took a place, as any number that grows with each place taken; undefined: never. */
export type LastTurn = (engine: DisruptingEngine) => number | undefined;

/**
 * Who puts back what did harm before all others: each harm is put back once, so nobody waits for ever. Then one of each
 * engine in turn, the engine first that waited longest for a place: whoever asks gets one after as many others at most
 * as there are other engines. Within an engine the workload that waited longest first (one never
 * disrupted before all others), then the one that is furthest off in proportion, then by name. So with any budget every
 * workload gets its turn before one of the same engine gets its second.
 */
export function orderCandidates<C extends Candidate>(
  candidates: readonly C[],
  history: Pick<DisruptionHistory, 'lastDisruption'>,
  lastTurn: LastTurn,
): C[] {
  const restores = candidates.filter(({ isRestore }) => isRestore === true);
  const others = candidates.filter(({ isRestore }) => isRestore !== true);
  return [...inTurn(restores, history, lastTurn), ...inTurn(others, history, lastTurn)];
}

function inTurn<C extends Candidate>(
  candidates: readonly C[],
  history: Pick<DisruptionHistory, 'lastDisruption'>,
  lastTurn: LastTurn,
): C[] {
  const waitingSince = (candidate: C): EpochMillis =>
    history.lastDisruption(candidate.workloadUid) ?? Number.NEGATIVE_INFINITY;
  const share = ({ drift, replicas }: C): number => drift / Math.max(1, replicas);
  const turnOf = (engine: DisruptingEngine): number => lastTurn(engine) ?? Number.NEGATIVE_INFINITY;
  const lines = Map.groupBy(candidates, ({ engine }) => engine);
  const ranked = [...lines].flatMap(([engine, line]) =>
    line
      .map((candidate) => ({ candidate, since: waitingSince(candidate), share: share(candidate) }))
      .sort(
        (a, b) =>
          ascending(a.since, b.since) || ascending(b.share, a.share) || ascending(a.candidate.key, b.candidate.key),
      )
      .map(({ candidate }, place) => ({ candidate, place, engine, turn: turnOf(engine) })),
  );
  return ranked
    .sort((a, b) => ascending(a.place, b.place) || ascending(a.turn, b.turn) || ascending(a.engine, b.engine))
    .map(({ candidate }) => candidate);
}
