/**
 * Turns: when more disruptions are wanted than the cluster-wide budget allows, engines go in turn, and of each the
 * workload that waited longest.
 */
import { type Candidate, type DisruptingEngine, orderCandidates } from '../guard/budget.ts';
import type { Block } from '../guard/context.ts';
import type { DisruptionHistory } from '../guard/history.ts';
import { object } from '../guard/objection.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface DisruptionTurns {
  /**
   * To be asked last, when no guard objects. If nothing is answered, the candidate waits no longer and is expected to
   * take the place before anything else happens.
   * @returns why it is to wait: the places that are free belong to others.
   */
  take(candidate: Candidate): Block | undefined;
  /** The same for one that goes once what it prepares is done: whose turn it is keeps waiting for its place. */
  reserve(candidate: Candidate): Block | undefined;
  /** A guard objects: who lacks nothing but a place waits for one, and anybody else wants none now. */
  noteBlocked(candidate: Candidate, block: Block): void;
  /** It wants nothing any more. The next in line hears of it. */
  leave(engine: DisruptingEngine, key: string): void;
  /**
   * A look at the workload begins. For engines that find out in many places what they want.
   * @returns to be called when the look is over: who waited and has not asked again leaves, unless its place is reserved.
   */
  look(engine: DisruptingEngine, key: string): () => void;
  /** It only waits for a place: when it was last looked at, nothing else kept it from going. */
  isWaiting(engine: DisruptingEngine, key: string): boolean;
  /** Calls those whose turn it is by now. */
  offer(): void;
  /**
   * Calls back with the key of a workload of the engine when its turn has come.
   * @returns how to end it; an engine that nobody listens for wants nothing any more.
   */
  onTurn(engine: DisruptingEngine, listener: (key: string) => void): () => void;
}

export interface DisruptionTurnsOptions {
  readonly history: Pick<DisruptionHistory, 'lastDisruption'>;
  /** Places of the budget that nobody has; negative where a lowered limit is exceeded. */
  readonly free: () => number;
  readonly clock: Pick<Clock, 'now'>;
}

interface Waiting {
  readonly candidate: Candidate;
  /** When it was first told that its turn has come. */
  readonly calledAt: EpochMillis | undefined;
  /** It was told that it may go, and goes once what it prepares is done. */
  readonly isReserved: boolean;
}

/** Who was called and does not come within this time waits no longer: it asks anew when it wants a place again. */
const COMES_WITHIN_MILLIS: Millis = 5_000;

export function createDisruptionTurns({ history, free, clock }: DisruptionTurnsOptions): DisruptionTurns {
  const waiting = new Map<string, Waiting>();
  const listeners = new Map<DisruptingEngine, Set<(key: string) => void>>();
  /** Places taken so far, and how many there had been at the last one of each engine. */
  let taken = 0;
  const lastTurn = new Map<DisruptingEngine, number>();

  /** Those who wait, in the order in which they may go. */
  const line = (): readonly Candidate[] => {
    const now = clock.now();
    for (const [name, { calledAt }] of waiting) {
      if (calledAt !== undefined && now - calledAt >= COMES_WITHIN_MILLIS) waiting.delete(name);
    }
    const candidates = [...waiting.values()].map(({ candidate }) => candidate);
    return orderCandidates(candidates, history, (engine) => lastTurn.get(engine));
  };
  const wait = (candidate: Candidate, calledAt?: EpochMillis, isReserved = false): void =>
    void waiting.set(nameOf(candidate), { candidate, calledAt, isReserved });

  const offer = (): void => {
    for (const candidate of line().slice(0, Math.max(0, free()))) {
      const { calledAt = clock.now(), isReserved } = waiting.get(nameOf(candidate)) ?? {};
      wait(candidate, calledAt, isReserved);
      for (const listener of listeners.get(candidate.engine) ?? []) listener(candidate.key);
    }
  };
  const leave = (engine: DisruptingEngine, key: string): void => {
    // The place it was called for would stay free until somebody happens to look.
    if (waiting.delete(nameOf({ engine, key }))) offer();
  };

  /** @returns why it is to wait. */
  const ask = (candidate: Candidate, calledAt?: EpochMillis): Block | undefined => {
    wait(candidate, calledAt);
    const places = free();
    const order = line();
    // Who was called and only reserves, too late, was passed over: whoever waits goes first.
    const ahead = order.includes(candidate) ? order.indexOf(candidate) : order.length;
    if (ahead < places) return undefined;
    offer();
    // Where they have not come a while after this, they are passed over. Who would follow them looks whether they came;
    // if all did, a long line would be looked at over and over.
    const retryAfterMillis = ahead === places ? COMES_WITHIN_MILLIS : undefined;
    return { rule: 'turn', ...object('AwaitingTurn', { ahead }, retryAfterMillis) };
  };

  return {
    take(candidate) {
      const block = ask(candidate);
      if (block !== undefined) return block;
      waiting.delete(nameOf(candidate));
      lastTurn.set(candidate.engine, ++taken);
      return undefined;
    },
    reserve(candidate) {
      // Asking again and again without going must not keep a place from the others.
      const calledAt = waiting.get(nameOf(candidate))?.calledAt;
      const block = ask(candidate, calledAt);
      if (block === undefined && waiting.has(nameOf(candidate))) wait(candidate, calledAt, true);
      return block;
    },
    noteBlocked(candidate, { reason: why }) {
      if (why === 'ConcurrencyLimit') wait(candidate);
      else leave(candidate.engine, candidate.key);
    },
    leave,
    look(engine, key) {
      const name = nameOf({ engine, key });
      const before = waiting.get(name)?.candidate;
      return () => {
        const now = waiting.get(name);
        // Whoever asks does so as a candidate of its own.
        if (now !== undefined && now.candidate === before && !now.isReserved) leave(engine, key);
      };
    },
    isWaiting: (engine, key) => waiting.has(nameOf({ engine, key })),
    offer,
    onTurn(engine, listener) {
      const own = listeners.get(engine) ?? new Set();
      listeners.set(engine, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size > 0) return;
        for (const { candidate } of waiting.values()) if (candidate.engine === engine) leave(engine, candidate.key);
      };
    },
  };
}

function nameOf({ engine, key }: Pick<Candidate, 'engine' | 'key'>): string {
  return `${engine} ${key}`;
}
