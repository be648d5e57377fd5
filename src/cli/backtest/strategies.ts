/** The rows of a backtest: ours by default, the given policies, the others, and what is requested now. */
import type { NamedMemoryStrategy } from '../../simulator/backtest/compare-memory.ts';
import { cpuStrategies } from '../../simulator/backtest/cpu-strategies.ts';
import { createOurCpu } from '../../simulator/backtest/our-cpu.ts';
import { createOurMemory, createOurMemoryPerReplica, hasIdentity } from '../../simulator/backtest/our-memory.ts';
import { replayedPolicyOf } from '../../simulator/backtest/replayed-policy.ts';
import type { NamedStrategy } from '../../simulator/backtest/strategy.ts';
import type { PolicyRow } from './read-policies.ts';

export interface Rows {
  /** In order. `as is` is of the series whose present request is known. */
  readonly cpu: readonly NamedStrategy[];
  /** Those of the policies, beside what is always compared. */
  readonly policyMemory: readonly NamedMemoryStrategy[];
}

const asIs: NamedStrategy = {
  name: 'as is',
  description: 'what is requested now',
  create: ({ requested }) => (requested === undefined ? undefined : { observe() {}, choose: () => requested }),
};

export function rowsOf(policies: readonly PolicyRow[]): Rows {
  const replayed = policies.map(({ name, description, spec }) => ({
    name,
    description,
    cooldownMillis: spec.intervalMillis,
    policy: replayedPolicyOf(spec),
  }));
  const ofPolicies = replayed.map(
    ({ policy, ...row }): NamedStrategy => ({ ...row, create: () => createOurCpu(policy) }),
  );
  return {
    cpu: [...cpuStrategies.slice(0, 1), ...ofPolicies, ...cpuStrategies.slice(1), asIs],
    policyMemory: replayed.map(({ name, cooldownMillis, policy }) => ({
      name,
      cooldownMillis,
      create: (trace) =>
        policy.isPerReplica === true && hasIdentity(trace)
          ? createOurMemoryPerReplica(policy)
          : createOurMemory(policy),
    })),
  };
}
