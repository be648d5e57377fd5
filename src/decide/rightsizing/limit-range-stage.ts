/** LimitRanges of type Container: a value they refuse is brought within them before the API server has to say so. */
import type { LimitRangeRecord } from '../../model/sizing-records.ts';
import { amend } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { limitInRange, type Shaped } from './shape.ts';

/** What all LimitRanges of one type together allow for one amount. */
export interface AllowedRange {
  readonly min: number;
  readonly max: number;
  /** Largest limit per request. */
  readonly maxRatio: number;
}

/**
 * Of several LimitRanges each must be met, so the highest minimum and the lowest maximum count; without any, 0 and
 * infinity.
 */
export function allowedRange(
  ranges: readonly LimitRangeRecord[],
  type: LimitRangeRecord['type'],
  resource: ResourceName,
): AllowedRange {
  const own = ranges.filter((range) => range.type === type);
  return {
    min: Math.max(0, ...own.map(({ min }) => min[resource] ?? 0)),
    max: Math.min(...own.map(({ max }) => max[resource] ?? Number.POSITIVE_INFINITY)),
    maxRatio: Math.min(...own.map((range) => range.maxLimitRequestRatio[resource] ?? Number.POSITIVE_INFINITY)),
  };
}

/** Source: plugin/pkg/admission/limitranger/admission.go: min and ratio speak of the request, max of both. */
export function fitLimitRange(shaped: Shaped, resource: ResourceName, allowed: AllowedRange): Shaped {
  const { min, max, maxRatio } = allowed;
  const ceiling = Math.min(shaped.ceiling, max);
  const ranged = { ...shaped, ceiling, limitRange: { max, maxRatio } };
  // A limit that moves comes down to the ratio; for one that stays, the request has to rise to it.
  const limit = limitInRange(ranged, shaped.limit, Math.min(ceiling, Math.max(shaped.value, min)));
  const limitInForce = limit ?? shaped.input.current.limit;
  const leastByRatio =
    limitInForce === undefined || maxRatio === Number.POSITIVE_INFINITY ? 0 : limitInForce / maxRatio;
  // The policy's own bounds and a kept limit are not overstepped for it; then the API server refuses, and says why.
  const value = Math.min(ceiling, Math.max(shaped.value, min, Math.ceil(leastByRatio)));
  const fitted = { ...ranged, limit };
  if (value === shaped.value && limit === shaped.limit) return fitted;
  const text = `the namespace's LimitRange allows ${describe(resource, allowed)}`;
  return amend(
    { ...fitted, limit: limit === undefined ? undefined : Math.max(limit, value) },
    'limit-range',
    value,
    text,
  );
}

function describe(resource: ResourceName, { min, max, maxRatio }: AllowedRange): string {
  const parts = [
    ...(min > 0 ? [`at least ${formatAmount(resource, min)}`] : []),
    ...(max < Number.POSITIVE_INFINITY ? [`at most ${formatAmount(resource, max)}`] : []),
    ...(maxRatio < Number.POSITIVE_INFINITY ? [`limits of at most ${maxRatio} times the request`] : []),
  ];
  return parts.join(', ');
}
