/** Where the invariants are kept account of: every check made, and every one that failed. */
import type { Clock } from '../lib/clock.ts';
import { type Invariant, invariants } from './invariant-names.ts';

/** One check that failed. */
export interface Violation {
  readonly invariant: Invariant;
  /** Milliseconds since the epoch, in virtual time. */
  readonly at: number;
  /** What was seen, one sentence. */
  readonly detail: string;
}

/**
 * Counts all violations and keeps the first only: those after them mostly follow from them. The first of each invariant
 * is always kept, so that none that is broken often hides another.
 */
export interface Ledger {
  /** @param detail asked only where it does not hold */
  check(invariant: Invariant, holds: boolean, detail: () => string): void;
  /** Checks made so far, by invariant: one never checked proves nothing. */
  checks(): Readonly<Record<Invariant, number>>;
  /** Checks that failed so far, by invariant; also those that are not kept. */
  broken(): Readonly<Record<Invariant, number>>;
  /** Those that are kept, in the order they were found. */
  violations(): readonly Violation[];
}

const names = Object.keys(invariants).filter((name): name is Invariant => Object.hasOwn(invariants, name));
/** Violations kept; a broken rule tends to break often. */
const MAX_KEPT = 100;

export function createLedger(clock: Clock): Ledger {
  const checks = new Map<Invariant, number>();
  const broken = new Map<Invariant, number>();
  const found: Violation[] = [];
  return {
    check(invariant, holds, detail) {
      countOne(checks, invariant);
      if (holds) return;
      if (found.length < MAX_KEPT || !broken.has(invariant))
        found.push({ invariant, at: clock.now(), detail: detail() });
      countOne(broken, invariant);
    },
    checks: () => byName(checks),
    broken: () => byName(broken),
    violations: () => found,
  };
}

function countOne(counts: Map<Invariant, number>, invariant: Invariant): void {
  counts.set(invariant, (counts.get(invariant) ?? 0) + 1);
}

function byName(counts: ReadonlyMap<Invariant, number>): Record<Invariant, number> {
  const all: Record<string, number> = {};
  for (const name of names) all[name] = counts.get(name) ?? 0;
  return all as Record<Invariant, number>;
}
