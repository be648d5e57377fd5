/** LimitRanges of type Container: a value they refuse is brought within them before the API server has to say so. */
import type { AllowedRange } from '../../model/size-bounds.ts';
import { amend } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { limitInRange, type Shaped } from './shape.ts';

/**
 * Source: plugin/pkg/admission/limitranger/admission.go: min and ratio speak of the request, max of both.
 * @param given the limit of containers that have none in their template: pods have it, and no request above it.
 */
export function fitLimitRange(shaped: Shaped, resource: ResourceName, allowed: AllowedRange, given?: number): Shaped {
  const { min, max, maxRatio } = allowed;
  const { current } = shaped.input;
  const most = current.limit === undefined ? (given ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const ceiling = Math.min(shaped.ceiling, max, most);
  const ranged = { ...shaped, ceiling, limitRange: { max, maxRatio } };
  // A limit that moves comes down to the ratio; for one that stays, the request has to rise to it.
  const limit = limitInRange(ranged, shaped.limit, Math.min(ceiling, Math.max(shaped.value, min)));
  const limitInForce = limit ?? current.limit ?? given;
  const leastByRatio =
    limitInForce === undefined || maxRatio === Number.POSITIVE_INFINITY ? 0 : limitInForce / maxRatio;
  // The policy's own bounds and a kept limit are not overstepped for it; then the API server refuses, and says why.
  const value = Math.min(ceiling, Math.max(shaped.value, min, Math.ceil(leastByRatio)));
  const fitted = { ...ranged, limit };
  if (value === shaped.value && limit === shaped.limit) return fitted;
  const text =
    value === most && value < shaped.value
      ? `the namespace's LimitRange gives it a limit of ${formatAmount(resource, most)}, which caps the request`
      : `the namespace's LimitRange allows ${describe(resource, allowed)}`;
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
