/** Specs of OptimizationPolicies, and what is wrong with them. */
import { checkPolicySpec } from '../optimization-policy-check.ts';

/** The least that is valid. */
export const least = {
  mode: 'Auto',
  selector: { workloadSelector: { matchLabels: { optimize: 'true' } } },
  metricsConfig: { provider: 'prometheus' },
  resourceBounds: { cpu: { min: '100m', max: '4000m' }, memory: { min: '128Mi', max: '8Gi' } },
  updateStrategy: {},
};
export const metrics = (more: object) => ({ metricsConfig: { provider: 'prometheus', ...more } });

/** Of the least spec with this change. */
export function problemsOf(change: object, limits = {}): readonly string[] {
  const checked = checkPolicySpec({ ...least, ...change }, limits);
  return checked.ok ? [] : checked.problems;
}
