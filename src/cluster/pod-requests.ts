/** What a pod asks of its node, as the scheduler adds it up. */
import type { Pod } from '../api/core.ts';
import { toBytes, toMillicores, tryParseQuantity } from '../lib/quantity.ts';
import { isSameValue } from './objects.ts';

/** Amounts by resource name: `cpu` in millicores, everything else in whole units (bytes, devices). */
export type Amounts = ReadonlyMap<string, number>;

type PodSpec = NonNullable<Pod['spec']>;
type QuantityMap = Readonly<Record<string, string>> | undefined;

const NONE: Amounts = new Map();
/** What a pod may ask for as a whole. */
const POD_LEVEL = /^(cpu|memory|hugepages-.*)$/;

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

type Container = NonNullable<Pod['spec']>['containers'][number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/**
 * A pod's effective requests: containers and sidecars together, or the largest moment of the init sequence, whichever
 * is more; what the pod as a whole asks for instead, where it says so (KEP-2837); and overhead. A pod being resized
 * counts with the largest of what it asks for, was granted and has, sum against sum; where it can never get what it
 * asks for, with the latter two. Source: k8s.io/component-helpers/resource `PodRequests`; KEP-753, KEP-1287.
 */
export function effectiveRequests(pod: Pod): Amounts {
  const { spec } = pod;
  if (spec === undefined) return NONE;
  const total = podLevelOver(spec, resizedTotal(pod, spec));
  return add(total, amountsOf(spec.overhead));
}

function resizedTotal(pod: Pod, spec: PodSpec): Amounts {
  const asked = totalOf(spec, requestsOf);
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const statuses = new Map([...containerStatuses, ...initContainerStatuses].map((status) => [status.name, status]));
  const isResized = [...spec.containers, ...(spec.initContainers ?? [])].some((container) =>
    holdsSomethingElse(container, statuses.get(container.name)),
  );
  if (!isResized) return asked;
  const isInfeasible = (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const unreported = (container: Container): Amounts => (isInfeasible ? NONE : requestsOf(container));
  const granted = (container: Container): Amounts => {
    const allocated = statuses.get(container.name)?.allocatedResources;
    return allocated === undefined ? unreported(container) : amountsOf(allocated);
  };
  const held = (container: Container): Amounts => {
    const actual = statuses.get(container.name)?.resources?.requests;
    return actual === undefined ? granted(container) : amountsOf(actual);
  };
  const reported = larger(totalOf(spec, granted), totalOf(spec, held));
  return isInfeasible ? reported : larger(asked, reported);
}

/** Told by the texts, which are the server's canonical ones: nearly no pod is being resized, and parsing costs. */
function holdsSomethingElse({ resources }: Container, status: ContainerStatus | undefined): boolean {
  const differs = (reported: QuantityMap): boolean =>
    reported !== undefined && !isSameValue(reported, resources?.requests ?? {});
  return differs(status?.allocatedResources) || differs(status?.resources?.requests);
}

function totalOf(spec: PodSpec, amountsFor: (container: Container) => Amounts): Amounts {
  let running = NONE;
  for (const container of spec.containers) running = add(running, amountsFor(container));
  let sidecars = NONE;
  let peak = NONE;
  for (const container of spec.initContainers ?? []) {
    const needed = add(sidecars, amountsFor(container));
    if (container.restartPolicy === 'Always') sidecars = needed;
    peak = larger(peak, needed);
  }
  return larger(add(running, sidecars), peak);
}

function requestsOf({ resources }: Container): Amounts {
  const { requests, limits } = resources ?? {};
  return limits === undefined ? amountsOf(requests) : new Map([...amountsOf(limits), ...amountsOf(requests)]);
}

/** @param spec may have a field newer than the published types. */
function podLevelOver(
  { resources }: PodSpec & { readonly resources?: { readonly requests?: QuantityMap } },
  total: Amounts,
): Amounts {
  const requests = Object.entries(resources?.requests ?? {}).filter(([name]) => POD_LEVEL.test(name));
  return requests.length === 0 ? total : new Map([...total, ...amountsOf(Object.fromEntries(requests))]);
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
