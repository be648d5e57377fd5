/** What a pod asks of its node, as the scheduler adds it up. */
import type { Pod } from '../api/core.ts';
import { toBytes, toMillicores, tryParseQuantity } from '../lib/quantity.ts';

/** Amounts by resource name: `cpu` in millicores, everything else in whole units (bytes, devices). */
export type Amounts = ReadonlyMap<string, number>;

type Container = NonNullable<Pod['spec']>['containers'][number];
type QuantityMap = Readonly<Record<string, string>> | undefined;

const NONE: Amounts = new Map();

/** Reads a map of quantities. Unreadable ones count as 0: the API server would not have stored them. */
export function amountsOf(quantities: QuantityMap): Amounts {
  if (quantities === undefined) return NONE;
  const amounts = new Map<string, number>();
  for (const [name, text] of Object.entries(quantities)) {
    const quantity = tryParseQuantity(String(text));
    if (quantity !== undefined) amounts.set(name, name === 'cpu' ? toMillicores(quantity) : toBytes(quantity));
  }
  return amounts;
}

/**
 * A pod's effective requests: containers and sidecars together, or the largest moment of the init sequence, whichever
 * is more, plus overhead. A container being resized counts with the larger of what it asks and what it holds.
 * Source: k8s.io/component-helpers/resource `PodRequests`; KEP-753 (sidecars), KEP-1287 (resize).
 */
export function effectiveRequests(pod: Pod): Amounts {
  const spec = pod.spec;
  if (spec === undefined) return NONE;
  const held = heldByContainer(pod);
  let running = NONE;
  for (const container of spec.containers) running = add(running, containerRequests(container, held));
  let sidecars = NONE;
  let peak = NONE;
  for (const container of spec.initContainers ?? []) {
    const requests = containerRequests(container, held);
    if (container.restartPolicy === 'Always') {
      sidecars = add(sidecars, requests);
      peak = larger(peak, sidecars);
    } else {
      peak = larger(peak, add(sidecars, requests));
    }
  }
  const total = larger(add(running, sidecars), peak);
  return add(total, amountsOf(spec.overhead));
}

function containerRequests(container: Container, held: ReadonlyMap<string, Amounts>): Amounts {
  const { requests, limits } = container.resources ?? {};
  const asked = limits === undefined ? amountsOf(requests) : new Map([...amountsOf(limits), ...amountsOf(requests)]);
  const holds = held.get(container.name);
  return holds === undefined ? asked : larger(asked, holds);
}

/** An infeasible resize is never granted, so only what the container holds counts; the caller takes the larger anyway. */
function heldByContainer(pod: Pod): ReadonlyMap<string, Amounts> {
  const held = new Map<string, Amounts>();
  for (const status of pod.status?.containerStatuses ?? []) {
    if (status.allocatedResources !== undefined) held.set(status.name, amountsOf(status.allocatedResources));
  }
  return held;
}

export function add(left: Amounts, right: Amounts): Amounts {
  if (right.size === 0) return left;
  if (left.size === 0) return right;
  const total = new Map(left);
  for (const [name, amount] of right) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function larger(left: Amounts, right: Amounts): Amounts {
  if (right.size === 0) return left;
  const result = new Map(left);
  for (const [name, amount] of right) result.set(name, Math.max(result.get(name) ?? 0, amount));
  return result;
}

/** Whether two sums say the same; an amount of 0 and an absent one are the same. */
export function isSameAmounts(left: Amounts, right: Amounts): boolean {
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    if ((left.get(name) ?? 0) !== (right.get(name) ?? 0)) return false;
  }
  return true;
}
