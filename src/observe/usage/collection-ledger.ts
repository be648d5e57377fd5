/**
 * How collecting goes, by workload and by policy, and word of it: to the log when it changes, to listeners when it
 * matters.
 */
import type { Logger } from '../../lib/log.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import { policyKey } from '../../model/optimization-policy.ts';
import type { UsageTarget } from '../../model/usage-settings.ts';
import type { CollectResult } from './collect-one.ts';
import type { CollectionState, PolicyHealth, UsageCollector } from './collector-port.ts';
import type { ChosenSource } from './usage-providers.ts';
import type { UsageProblem } from './usage-source.ts';

/** Of workloads that are collected now; it forgets with the collector. */
export interface CollectionLedger extends Pick<UsageCollector, 'stateOf' | 'healthOf' | 'onChange'> {
  note(target: UsageTarget, chosen: ChosenSource, result: CollectResult, now: EpochMillis): void;
  /** The attempt itself broke. */
  fail(target: UsageTarget, problem: UsageProblem): void;
  /** Something new is known of the workload. */
  changed(workload: WorkloadRef): void;
  forget(key: string): void;
}

interface Line {
  readonly policy: string;
  readonly state: CollectionState;
  readonly fallback: PolicyHealth['fallback'];
  /** What the source warned of with its last answer; empty for nothing. */
  readonly warning: string;
}

const unknown: CollectionState = {
  source: undefined,
  lastSuccessAt: undefined,
  problem: undefined,
  missing: [],
  measured: undefined,
};

export function createCollectionLedger(log: Logger): CollectionLedger {
  const lines = new Map<string, Line>();
  const listeners = new Set<(workload: WorkloadRef) => void>();

  const changed = (workload: WorkloadRef): void => {
    for (const listener of listeners) listener(workload);
  };

  /** Trouble once, and once when it is over. */
  const tell = (target: UsageTarget, before: UsageProblem | undefined, after: UsageProblem | undefined): void => {
    const fields = { workload: workloadKey(target.workload), policy: policyKey(target.settings.policy) };
    if (after === undefined) {
      if (before !== undefined) log.info(fields, 'Usage is collected again');
    } else if (after.message !== before?.message) {
      log.warn({ ...fields, reason: after.reason, problem: after.message }, 'Usage is not collected');
    }
  };

  /** The same warning comes with every answer, to all workloads of a policy: it is told to the first of them. */
  const isWarned = ({ policy, state: { source }, warning }: Line): boolean => {
    for (const line of lines.values()) {
      if (line.policy === policy && line.state.source === source && line.warning === warning) return true;
    }
    return false;
  };

  /** Keeps the line of a workload, and says what is new in it. */
  const write = (target: UsageTarget, line: Line): void => {
    const key = workloadKey(target.workload);
    const before = lines.get(key);
    const { policy, state, fallback, warning } = line;
    const isWarning = warning !== '' && !isWarned(line);
    lines.set(key, line);
    tell(target, before?.state.problem, state.problem);
    if (fallback !== undefined && before?.fallback?.because.message !== fallback.because.message) {
      const { provider, because } = fallback;
      log.warn(
        { workload: key, provider, because: because.message },
        'Usage comes from another provider than the policy names',
      );
    }
    if (isWarning)
      log.warn({ policy, source: state.source, workload: key, warnings: warning }, 'A source of usage warns');
  };

  return {
    changed,
    stateOf: (workload) => lines.get(workloadKey(workload))?.state ?? unknown,
    healthOf(policy) {
      const own = [...lines.values()].filter((line) => line.policy === policyKey(policy));
      if (own.length === 0) return undefined;
      const failing = own.filter(({ state }) => state.problem !== undefined);
      const health: PolicyHealth = {
        workloads: own.length,
        failing: failing.length,
        problem: failing[0]?.state.problem,
        fallback: own.find(({ fallback }) => fallback !== undefined)?.fallback,
      };
      return health;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    note(target, chosen, { problem, warnings, isNew, missing, measured }, now) {
      const before = lines.get(workloadKey(target.workload))?.state;
      const source = chosen.ok ? chosen.source.name : before?.source;
      const lastSuccessAt = problem === undefined ? now : before?.lastSuccessAt;
      write(target, {
        policy: policyKey(target.settings.policy),
        state: { source, lastSuccessAt, problem, missing, measured },
        fallback: chosen.ok ? chosen.fallback : undefined,
        warning: warnings.join('; '),
      });
      if (isNew || before?.problem?.message !== problem?.message) changed(target.workload);
    },
    fail(target, problem) {
      const before = lines.get(workloadKey(target.workload));
      const state = { ...(before?.state ?? unknown), problem };
      write(target, { policy: policyKey(target.settings.policy), state, fallback: before?.fallback, warning: '' });
      if (before?.state.problem?.message !== problem.message) changed(target.workload);
    },
    forget: (key) => lines.delete(key),
  };
}
