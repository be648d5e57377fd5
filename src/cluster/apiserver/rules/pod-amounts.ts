/** Amounts a pod asks for, in exact billionths, as quotas and node capacity count them. */
import { tryParseQuantity } from '../../../lib/quantity.ts';
import { type JsonObject, objectAt, objectsAt } from '../json.ts';

/** Billionths of a unit; 0 for what is absent or no quantity. */
export function nanosOf(amounts: JsonObject | undefined, name: string): bigint {
  const value = amounts?.[name];
  return (
    (typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value))?.nanos : undefined) ?? 0n
  );
}

/**
 * The pod's total as the scheduler sums it: containers and sidecars together or the largest init container, and
 * overhead, which gives no limit to what has none. Source: k8s.io/component-helpers/resource `PodRequests`,
 * `PodLimits`.
 */
export function podAmount(
  spec: JsonObject | undefined,
  part: 'requests' | 'limits',
  name: string,
  amount = (container: JsonObject): bigint => nanosOf(objectAt(container, 'resources', part), name),
): bigint {
  const overhead = nanosOf(objectAt(spec, 'overhead'), name);
  const withOverhead = (total: bigint): bigint => (part === 'limits' && total === 0n ? 0n : total + overhead);
  const podLevel = objectAt(spec, 'resources', part);
  if (podLevel?.[name] !== undefined) return withOverhead(nanosOf(podLevel, name));
  let sidecars = 0n;
  let largest = 0n;
  for (const container of objectsAt(spec, 'initContainers')) {
    const isSidecar = container['restartPolicy'] === 'Always';
    const needed = sidecars + amount(container);
    if (isSidecar) sidecars = needed;
    if (needed > largest) largest = needed;
  }
  const running = objectsAt(spec, 'containers').reduce((sum, container) => sum + amount(container), sidecars);
  return withOverhead(running > largest ? running : largest);
}
