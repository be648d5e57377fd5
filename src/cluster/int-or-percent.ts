/** Kubernetes' "integer or percentage" values (`maxSurge: 25%`, `minAvailable: 2`). */

/**
 * The number an integer-or-percentage stands for.
 *
 * @param total what a percentage is a share of.
 * @param rounding how a fraction of a percentage is rounded; integers are returned as they are.
 * @returns undefined when the text is neither an integer nor a percentage.
 * Source: apimachinery `intstr.GetScaledValueFromIntOrPercent`.
 */
export function resolveIntOrPercent(
  value: number | string | undefined,
  total: number,
  rounding: 'up' | 'down',
): number | undefined {
  if (typeof value === 'number') return value;
  if (value === undefined) return undefined;
  const digits = /^(\d+)%$/.exec(value)?.[1];
  if (digits === undefined) return undefined;
  const scaled = (Number(digits) * total) / 100;
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}
