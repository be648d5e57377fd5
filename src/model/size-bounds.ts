/**
 * Whether sizes are within the LimitRanges and ResourceQuotas of their namespace, as the API server's admission
 * plug-ins will ask.
 */
import { formatQuantity, fromBytes, fromMillicores } from '../lib/quantity.ts';
import { type SizeKey, sizeKeys, sizePaths, sumOf } from './pod-size.ts';
import { countsIn, type QuotaSubject } from './quota-scopes.ts';
import type {
  ComputeAmounts,
  ContainerSize,
  ContainerSpecRecord,
  LimitRangeRecord,
  PodSizing,
  QuotaRecord,
} from './sizing-records.ts';

/** For people: `300m`, `1536Mi`. */
export function amountText(resource: 'cpu' | 'memory', amount: number): string {
  return formatQuantity(resource === 'cpu' ? fromMillicores(Math.round(amount)) : fromBytes(Math.round(amount)));
}

export interface BoundsProblem {
  /** Of the LimitRange. */
  readonly name: string;
  readonly detail: string;
}

/** What all LimitRanges of one type together allow for one amount. */
export interface AllowedRange {
  readonly min: number;
  readonly max: number;
  /** Largest limit per request. */
  readonly maxRatio: number;
}

/**
 * Of several LimitRanges each must be met, so the highest minimum and the lowest maximum count; without any, 0 and
 * infinity. They may contradict each other: `min` is then above `max`.
 */
export function allowedRange(
  ranges: readonly LimitRangeRecord[],
  type: LimitRangeRecord['type'],
  resource: keyof ComputeAmounts,
): AllowedRange {
  const own = ranges.filter((range) => range.type === type);
  return {
    min: Math.max(0, ...own.map(({ min }) => min[resource] ?? 0)),
    max: Math.min(...own.map(({ max }) => max[resource] ?? Number.POSITIVE_INFINITY)),
    maxRatio: Math.min(...own.map((range) => range.maxLimitRequestRatio[resource] ?? Number.POSITIVE_INFINITY)),
  };
}

/**
 * The first item that the pod as a whole breaks: also what is not changed is checked when it is resized.
 * Source: kubernetes plugin/pkg/admission/limitranger (PodValidateLimitFunc).
 */
export function limitRangeProblem(
  ranges: readonly LimitRangeRecord[],
  containers: readonly Pick<ContainerSpecRecord, 'name' | 'size'>[],
): BoundsProblem | undefined {
  for (const range of ranges) {
    const subjects =
      range.type === 'Container'
        ? containers.map(({ name, size }) => ({ what: `container ${name}`, size }))
        : [{ what: 'the pod', size: totalOf(containers) }];
    for (const { what, size } of subjects) {
      const detail = problemOf(range, what, size);
      if (detail !== undefined) return { name: range.name, detail };
    }
  }
  return undefined;
}

function problemOf(range: LimitRangeRecord, what: string, size: ContainerSize): string | undefined {
  for (const resource of ['cpu', 'memory'] as const) {
    const { request, limit } = amountsOf(size, resource);
    const [min, max, ratio] = [range.min[resource], range.max[resource], range.maxLimitRequestRatio[resource]];
    const text = (amount: number): string => amountText(resource, amount);
    if (min !== undefined && request === 0) return `${what} has no ${resource} request, of at least ${text(min)}`;
    if (min !== undefined && request < min)
      return `the ${resource} request of ${what} would be ${text(request)}, of at least ${text(min)}`;
    if (min !== undefined && limit > 0 && limit < min)
      return `the ${resource} limit of ${what} would be ${text(limit)}, of at least ${text(min)}`;
    if (max !== undefined && limit === 0) return `${what} has no ${resource} limit, of at most ${text(max)}`;
    if (max !== undefined && Math.max(limit, request) > max)
      return `the ${resource} limit of ${what} would be ${text(Math.max(limit, request))}, of at most ${text(max)}`;
    if (ratio !== undefined && request === 0) return `${what} has no ${resource} request, which a ratio needs`;
    if (ratio !== undefined && limit === 0) return `${what} has no ${resource} limit, which a ratio needs`;
    if (ratio !== undefined && limit / request > ratio)
      return `the ${resource} limit of ${what} would be ${(limit / request).toFixed(2)} times its request, of at most ${ratio}`;
  }
  return undefined;
}

function amountsOf(size: ContainerSize, resource: keyof ComputeAmounts): { request: number; limit: number } {
  return resource === 'cpu'
    ? { request: size.cpuRequest ?? 0, limit: size.cpuLimit ?? 0 }
    : { request: size.memoryRequest ?? 0, limit: size.memoryLimit ?? 0 };
}

/** Containers without an amount count as nothing in the pod's: only where none has it the pod has none (`podLimits`). */
function totalOf(containers: readonly Pick<ContainerSpecRecord, 'size'>[]): ContainerSize {
  const total: { -readonly [Key in SizeKey]?: number } = {};
  for (const key of sizeKeys) total[key] = sumOf(containers, key);
  return total;
}

/**
 * Sizes that containers of a template have once a pod is made of it: a request that is missing beside a limit is that
 * limit, then the LimitRanges of type Container give what is missing. Pods have all this already.
 * Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Pod), limitranger (PodMutateLimitFunc).
 */
export function withLimitDefaults(
  ranges: readonly LimitRangeRecord[],
  containers: readonly ContainerSpecRecord[],
): readonly ContainerSpecRecord[] {
  return containers.map((container) => {
    const { size } = container;
    const amounts = {
      cpuRequest: size.cpuRequest ?? size.cpuLimit ?? defaultIn(ranges, 'defaultRequest', 'cpu'),
      cpuLimit: size.cpuLimit ?? givenLimit(ranges, 'cpu'),
      memoryRequest: size.memoryRequest ?? size.memoryLimit ?? defaultIn(ranges, 'defaultRequest', 'memory'),
      memoryLimit: size.memoryLimit ?? givenLimit(ranges, 'memory'),
    };
    const given: { -readonly [Key in SizeKey]?: number } = {};
    for (const key of sizeKeys) if (amounts[key] !== undefined) given[key] = amounts[key];
    return { ...container, size: given };
  });
}

/** What LimitRanges give to containers without a limit; undefined where they give none. */
export function givenLimit(ranges: readonly LimitRangeRecord[], resource: keyof ComputeAmounts): number | undefined {
  return defaultIn(ranges, 'defaultLimit', resource);
}

/** Of several the first that has one counts. */
function defaultIn(
  ranges: readonly LimitRangeRecord[],
  part: 'defaultRequest' | 'defaultLimit',
  resource: keyof ComputeAmounts,
): number | undefined {
  return ranges.find((range) => range.type === 'Container' && range[part][resource] !== undefined)?.[part][resource];
}

/** Amounts as quotas count them. */
export type QuotaUse = Readonly<Record<SizeKey, number>>;

export function quotaUse(amountOf: (key: SizeKey) => number): QuotaUse {
  return {
    cpuRequest: amountOf('cpuRequest'),
    cpuLimit: amountOf('cpuLimit'),
    memoryRequest: amountOf('memoryRequest'),
    memoryLimit: amountOf('memoryLimit'),
  };
}

export const noUse = quotaUse(() => 0);

export function addUse(left: QuotaUse, right: QuotaUse): QuotaUse {
  return quotaUse((key) => left[key] + right[key]);
}

/** Below 0 where more is taken away than there is. */
export function lessUse(left: QuotaUse, right: QuotaUse): QuotaUse {
  return quotaUse((key) => left[key] - right[key]);
}

type Sized = readonly Pick<ContainerSpecRecord, 'name' | 'size'>[];

/**
 * What a change adds to a pod's use of quotas, at least 0. A pod counts with the largest of spec, allocated and in
 * force (KEP-1287): up to Kubernetes 1.36 of each container by itself, from 1.37 on of the sums of all. Which rule the
 * server follows is not known here, and either may add more than the other: the larger is taken. Source: kubernetes
 * pkg/quota/v1/evaluator/core/pods.go (PodUsageFunc), k8s.io/component-helpers/resource/helpers.go.
 */
export function quotaGrowth(before: Sized, after: Sized, statuses: PodSizing['statuses']): QuotaUse {
  const moreBy = (use: typeof useBySums, key: SizeKey): number =>
    use(key, after, statuses) - use(key, before, statuses);
  return quotaUse((key) => Math.max(0, moreBy(useByContainers, key), moreBy(useBySums, key)));
}

function useByContainers(key: SizeKey, containers: Sized, statuses: PodSizing['statuses']): number {
  return containers.reduce((sum, { name, size }) => {
    const status = statuses.find((each) => each.name === name);
    return sum + Math.max(size[key] ?? 0, status?.allocated?.[key] ?? 0, status?.actual?.[key] ?? 0);
  }, 0);
}

function useBySums(key: SizeKey, containers: Sized, statuses: PodSizing['statuses']): number {
  let [asked, granted, held] = [0, 0, 0];
  for (const { name, size } of containers) {
    const status = statuses.find((each) => each.name === name);
    const wish = size[key] ?? 0;
    const allocated = sizePaths[key].list === 'requests' && status?.allocated ? (status.allocated[key] ?? 0) : wish;
    asked += wish;
    granted += allocated;
    held += status?.actual === undefined ? allocated : (status.actual[key] ?? 0);
  }
  return Math.max(asked, granted, held);
}

export interface QuotaProblem {
  readonly name: string;
  /** As quotas name it: `requests.cpu`. */
  readonly resource: string;
  /** What the change needs on top, and what is left; for people. */
  readonly asked: string;
  readonly free: string;
}

/**
 * The first quota that has too little left for `more`. Only what grows is asked for: a decrease passes a quota that is
 * overdrawn.
 * @param underWay what other changes of the namespace have asked for and the quota's figures may not show yet.
 */
export function quotaProblem(
  quotas: readonly QuotaRecord[],
  pod: QuotaSubject,
  more: QuotaUse,
  underWay: QuotaUse,
): QuotaProblem | undefined {
  for (const { name, hard, used, scopes } of quotas) {
    if (!countsIn(scopes, pod)) continue;
    for (const key of sizeKeys) {
      const most = hard[key];
      const free = (most ?? 0) - (used[key] ?? 0) - underWay[key];
      if (most === undefined || more[key] <= 0 || more[key] <= free) continue;
      const { list, resource } = sizePaths[key];
      const text = (amount: number): string => amountText(resource, Math.max(0, amount));
      return { name, resource: `${list}.${resource}`, asked: text(more[key]), free: text(free) };
    }
  }
  return undefined;
}
