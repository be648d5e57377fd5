/** The faults now in force: added, removed, spent, and counted as they meet requests. */
import type { Random } from '../../lib/random.ts';
import { type Fault, type FaultEffect, type FaultSubject, matchesFault } from './fault.ts';

export interface ActiveFault {
  readonly fault: Fault;
  /** Requests met so far. */
  met(): number;
  /** Ends the fault; harmless when it is spent already. */
  remove(): void;
}

/** Every chance is drawn from the server's dice: equal seeds break the same requests. */
export interface FaultPlan {
  /** Puts a fault in force. Throws RangeError for a probability outside 0..1 or a count below 1. */
  add(fault: Fault): ActiveFault;
  clear(): void;
  /** Called with every fault that is put in force. */
  onAdd(listener: (fault: Fault) => void): void;
  active(): readonly ActiveFault[];
  /** Whether the fault with this effect was taken away; one that is spent goes on with the watches it has met. */
  hasEnded(effect: FaultEffect): boolean;
  /** Called whenever a request comes to where faults of some kind may meet it: several times for each. */
  onMeet(listener: (subject: FaultSubject) => void): void;
  /** The effects that meet this request now, in the order the faults were added; uses up their counts. */
  meet(subject: FaultSubject, kinds: readonly FaultEffect['kind'][]): readonly FaultEffect[];
}

export function createFaultPlan(random: Random): FaultPlan {
  const faults = new Set<ActiveFault & { hit(): void }>();
  const ended = new WeakSet<FaultEffect>();
  const listeners: ((fault: Fault) => void)[] = [];
  const meetListeners: ((subject: FaultSubject) => void)[] = [];

  return {
    add(fault) {
      const { probability = 1, count } = fault;
      if (!(probability >= 0 && probability <= 1))
        throw new RangeError(`fault probability must be in 0..1, got ${probability}`);
      if (count !== undefined && !(count >= 1)) throw new RangeError(`fault count must be at least 1, got ${count}`);
      let met = 0;
      const active = {
        fault,
        met: () => met,
        remove() {
          faults.delete(active);
          ended.add(fault.effect);
        },
        hit() {
          met++;
          if (count !== undefined && met >= count) faults.delete(active);
        },
      };
      faults.add(active);
      ended.delete(fault.effect);
      for (const listener of listeners) listener(fault);
      return active;
    },
    clear() {
      for (const active of faults) active.remove();
    },
    onAdd: (listener) => void listeners.push(listener),
    active: () => [...faults],
    hasEnded: (effect) => ended.has(effect),
    onMeet: (listener) => void meetListeners.push(listener),
    meet(subject, kinds) {
      for (const listener of meetListeners) listener(subject);
      if (faults.size === 0) return [];
      const effects: FaultEffect[] = [];
      for (const active of faults) {
        const { fault } = active;
        if (!kinds.includes(fault.effect.kind) || !matchesFault(fault, subject)) continue;
        if (fault.probability !== undefined && random.next() >= fault.probability) continue;
        active.hit();
        effects.push(fault.effect);
      }
      return effects;
    },
  };
}
