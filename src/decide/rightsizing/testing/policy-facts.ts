/** What is known of a policy that is well: a test changes what it is about. */
import type { PolicyFacts } from '../policy-conditions.ts';

export function policyFacts(changes: Partial<PolicyFacts> = {}): PolicyFacts {
  return {
    namespace: 'shop',
    name: 'sizes',
    generation: 3,
    problems: [],
    mode: 'Auto',
    dryRun: false,
    owned: 2,
    withUsage: 2,
    metricsProblem: undefined,
    forbidden: undefined,
    failing: [],
    ...changes,
  };
}
