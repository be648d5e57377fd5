/** Holds the journal to what happened: an eviction that went through is told there, by whoever led then and leads still. */
import { engineNames, LEAST_ENTRIES } from '../act/journal.ts';
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import type { SimulatedOperator } from './operator-port.ts';
import type { ClockErrors } from './world.ts';

export interface JournalJudgeOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly replicas: () => Iterable<SimulatedOperator>;
  /** Whether answers of the API may be lost now. */
  readonly isDisturbed: () => boolean;
  readonly clockErrors: () => ClockErrors;
}

/** Says nothing while faults are in force, or where the leader changed in between. */
export interface JournalJudge {
  evicted(facts: WorkloadFacts, pod: string): void;
}

/** For the answer of the API server to come back. */
const WRITTEN_MILLIS: Millis = 5_000;

export function createJournalJudge({
  ledger,
  clock,
  replicas,
  isDisturbed,
  clockErrors,
}: JournalJudgeOptions): JournalJudge {
  const leaderOf = ({ key, kind }: WorkloadFacts) => {
    const [namespace = '', name = ''] = key.split('/');
    for (const operator of replicas()) {
      const explanation = operator.explain({ kind, namespace, name });
      if (explanation?.isLeader === true) return { operator, journal: explanation.journal };
    }
    return undefined;
  };
  return {
    evicted(facts, pod) {
      const before = leaderOf(facts);
      if (before === undefined || isDisturbed()) return;
      const at = clock.now() - clockErrors().mostMillis;
      clock.setTimer(WRITTEN_MILLIS, () => {
        const after = leaderOf(facts);
        if (after === undefined || after.operator !== before.operator || isDisturbed()) return;
        const { journal } = after;
        const isTold = journal.some((entry) => entry.kind === 'done' && entry.pod === pod && entry.lastAt >= at);
        const isForgotten = engineNames.some((name) => {
          const own = journal.filter(({ engine }) => engine === name);
          return own.length >= LEAST_ENTRIES && (own[0]?.lastAt ?? 0) >= at;
        });
        ledger.check('journal', isTold || isForgotten, () => `${facts.key}: nothing is told of the eviction of ${pod}`);
        const { mostMillis, wereSet } = clockErrors();
        if (wereSet) return;
        const isOrdered = journal.every(({ firstAt, lastAt }, index) => {
          return firstAt <= lastAt && lastAt <= clock.now() + mostMillis && lastAt >= (journal[index - 1]?.lastAt ?? 0);
        });
        ledger.check('journal', isOrdered, () => `${facts.key}: entries are out of order`);
      });
    },
  };
}
