/** Sizes of containers as Kubernetes objects say them, for judging what became of them. Pure. */
import type { Pod } from '../api/core.ts';
import { type Amounts, amountsOf } from '../cluster/pod-requests.ts';

export type Container = NonNullable<Pod['spec']>['containers'][number];
export type SizeKey = 'cpu request' | 'memory request' | 'cpu limit' | 'memory limit';

/** Which amount a key means. */
export const sizeParts = {
  'cpu request': { resource: 'cpu', what: 'request' },
  'memory request': { resource: 'memory', what: 'request' },
  'cpu limit': { resource: 'cpu', what: 'limit' },
  'memory limit': { resource: 'memory', what: 'limit' },
} as const satisfies Record<SizeKey, { readonly resource: 'cpu' | 'memory'; readonly what: 'request' | 'limit' }>;

/** One amount of one container that became another; undefined: there is none. */
export interface SizeStep {
  readonly container: Container;
  readonly key: SizeKey;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** What differs, by the names of containers; in the order of `after`. */
export function sizeSteps(before: readonly Container[], after: readonly Container[]): SizeStep[] {
  return after.flatMap((container) => {
    const old = before.find(({ name }) => name === container.name);
    if (old === undefined || old.resources === container.resources) return [];
    const [was, is] = [sizeOf(old), sizeOf(container)];
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
      const [from, to] = [was.get(key), is.get(key)];
      return from === to ? [] : [{ container, key, from, to }];
    });
  });
}

/** Millicores and bytes; what is not written is not in it, though the API server may take a limit for a request. */
export function sizeOf({ resources }: Pick<Container, 'resources'>): ReadonlyMap<SizeKey, number> {
  const size = new Map<SizeKey, number>();
  const read = (what: 'request' | 'limit', amounts: Amounts): void => {
    for (const resource of ['cpu', 'memory'] as const) {
      const amount = amounts.get(resource);
      if (amount !== undefined) size.set(`${resource} ${what}`, amount);
    }
  };
  read('request', amountsOf(resources?.requests));
  read('limit', amountsOf(resources?.limits));
  return size;
}

/** As Kubernetes has it, for containers without init containers. */
export function qosOf(containers: readonly Container[]): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const sizes = containers.map(sizeOf);
  if (sizes.every((size) => [...size.values()].every((amount) => amount === 0))) return 'BestEffort';
  const isGuaranteed = (size: ReadonlyMap<SizeKey, number>): boolean =>
    (['cpu', 'memory'] as const).every((resource) => {
      const limit = size.get(`${resource} limit`);
      return limit !== undefined && (size.get(`${resource} request`) ?? limit) === limit;
    });
  return sizes.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

/** What the pod counts for on its node: by container the largest of what it asks for, is allocated and has. */
export function chargeOf({ spec, status }: Pod, resource: 'cpu' | 'memory'): number {
  return (spec?.containers ?? []).reduce((sum, { name, resources }) => {
    const told = status?.containerStatuses?.find((each) => each.name === name);
    const all = [resources?.requests, told?.allocatedResources, told?.resources?.requests];
    return sum + Math.max(...all.map((amounts) => amountsOf(amounts).get(resource) ?? 0));
  }, 0);
}

/** For people. */
export function describeStep({ container, key, from, to }: SizeStep): string {
  const text = (amount: number | undefined): string => {
    if (amount === undefined) return 'none';
    return sizeParts[key].resource === 'cpu' ? `${amount}m` : mebibytes(amount);
  };
  return `${container.name} ${key} ${text(from)} -> ${text(to)}`;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)}Mi`;
}
