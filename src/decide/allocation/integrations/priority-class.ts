/**
 * Integration 1, PriorityClass: the resolved `spec.priority` of a pod as a factor of its weight. Priority changes who
 * gets more of the surplus, never a claim. It is read from the pod: admission resolves the class once, and so do we.
 */
import type { Clamp } from '../clamp.ts';

export type PriorityCurve = 'log' | 'anchors' | 'legacy' | 'none';

/** `system-cluster-critical` and above: nothing is ever taken from those pods. */
const SYSTEM_CRITICAL = 2_000_000_000;

export function isSystemCritical(priority: number): boolean {
  return priority >= SYSTEM_CRITICAL;
}

/**
 * - `log`: 2^(3 s/9) with s = sgn(p) log10(1 + |p|): bounded, monotone, defined for negatives; each factor 1000 doubles it.
 * - `anchors`: piecewise linear in s between published points (1000 -> 1, 2000 -> 1.5).
 * - `legacy`: 1 + p/10000 in [0.1, 10], as MBCAS shipped it.
 */
export function priorityWeight(priority: number, curve: PriorityCurve): number {
  if (curve === 'none') return 1;
  if (curve === 'legacy') return priority <= 0 ? 1 : Math.min(10, Math.max(0.1, 1 + priority / 10_000));
  const position = scale(priority);
  return curve === 'log' ? 2 ** (position / 3) : interpolate(position);
}

/**
 * As much as a weight may multiply. Without a bound one annotation could make a weight that no bargain can be solved
 * with.
 */
const MOST_FACTOR = 64;

/** A tenant may lower its pods with `mbcas.io/priority-multiplier`, but not raise them above what their class says. */
export function priorityFactor(
  priority: number,
  curve: PriorityCurve,
  override: number | undefined,
  mayExceedClass: boolean,
): { readonly factor: number; readonly clamps: readonly Clamp[] } {
  const byClass = priorityWeight(priority, curve);
  const factor =
    override === undefined ? byClass : Math.max(0.1, Math.min(override, mayExceedClass ? MOST_FACTOR : byClass));
  const clamps: Clamp[] =
    override !== undefined && factor !== override
      ? [{ reason: 'PriorityClass', what: 'weight', before: override, after: factor }]
      : [];
  return { factor, clamps };
}

const scale = (priority: number): number => Math.sign(priority) * Math.log10(1 + Math.abs(priority));

const anchors: readonly (readonly [position: number, weight: number])[] = (
  [
    [-1e9, 0.25],
    [-1, 0.9],
    [0, 1],
    [1000, 1],
    [2000, 1.5],
    [10_000, 2],
    [1e6, 3],
    [2e9, 4],
  ] as const
).map(([priority, weight]) => [scale(priority), weight]);

function interpolate(position: number): number {
  let [left, below] = [Number.NEGATIVE_INFINITY, anchors[0]?.[1] ?? 1];
  for (const [right, above] of anchors) {
    if (position <= right) {
      return Number.isFinite(left) ? below + ((above - below) * (position - left)) / (right - left) : above;
    }
    [left, below] = [right, above];
  }
  return below;
}
