/** Looks at workloads that nothing happened to for a while: they have what they should, or somebody says why not. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { InvariantMonitor } from './invariants.ts';
import { createPolicyReports, type PolicyReports } from './policy-reports.ts';
import type { SizeJudge } from './size-judge.ts';

/** In the operator's words; undefined: it has none. */
export type Explain = (facts: WorkloadFacts) => string | undefined;

export interface RestJudgeOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly hasQuota: (namespace: string) => boolean;
  readonly monitor: Pick<InvariantMonitor, 'judgeRest'>;
  readonly sizes: Pick<SizeJudge, 'judgeRest'>;
}

export interface RestJudge extends Pick<PolicyReports, 'onStatus'> {
  /** Something happens to the workload. */
  onChange(facts: WorkloadFacts): void;
  judge(workloads: Iterable<WorkloadFacts>, explain: Explain, explainSizes: Explain): void;
}

/** Failed moves are tried again after an hour at most, and say so meanwhile. */
const REST_MILLIS: Millis = 20 * 60_000;

export function createRestJudge({ clock, hasQuota, monitor, sizes }: RestJudgeOptions): RestJudge {
  const changedAt = new Map<string, EpochMillis>();
  const reports = createPolicyReports();

  /** Pods that are kept from being made are nobody's to place. */
  const heldBack: Explain = ({ key, counts, replicas, isPaused }) => {
    const [namespace = ''] = key.split('/');
    if (isPaused && counts.live === 0) return 'it is paused and was never rolled out';
    return hasQuota(namespace) && counts.live < replicas ? 'a quota keeps pods from being made' : undefined;
  };

  return {
    onStatus: reports.onStatus,
    onChange: ({ uid }) => void changedAt.set(uid, clock.now()),
    judge(workloads, explain, explainSizes) {
      for (const facts of workloads) {
        const since = changedAt.get(facts.uid) ?? clock.now();
        if (clock.now() - since < REST_MILLIS) continue;
        if (facts.rule !== undefined) monitor.judgeRest(facts, explain(facts) ?? heldBack(facts));
        sizes.judgeRest(facts, () => reports.of(facts) ?? explainSizes(facts));
      }
    },
  };
}
