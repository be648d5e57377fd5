/** What a simulation keeps over time: the name of each series, what its values are, and what they mean. */

/**
 * `level`: as it was when the span ended. `mean`: over the span, so values times their spans add up to the figure of the whole run.
 * `count`: how often within the span.
 */
export type SeriesKind = 'level' | 'mean' | 'count';

export const seriesMeanings = {
  replicas: { kind: 'level', meaning: 'replicas asked for' },
  readySpot: { kind: 'level', meaning: 'ready pods on spot nodes' },
  readyOnDemand: { kind: 'level', meaning: 'ready pods on on-demand nodes' },
  unavailable: { kind: 'mean', meaning: 'replicas that were not ready' },
  costPerHour: { kind: 'mean', meaning: 'what the nodes cost an hour, in the unit of the prices' },
  costPerHourOnDemand: { kind: 'mean', meaning: 'what the same nodes would have cost an hour on on-demand' },
  cpuAllocatable: { kind: 'level', meaning: 'CPU that the nodes have for pods, millicores' },
  cpuRequested: { kind: 'level', meaning: 'CPU that pods on nodes request, millicores' },
  cpuUsed: { kind: 'level', meaning: 'CPU that pods use, millicores; absent where no workload has a load' },
  evictions: { kind: 'count', meaning: 'running pods evicted by Stowage' },
  fallbacks: { kind: 'count', meaning: 'pods that waited for spot and were recreated on on-demand' },
  resizes: { kind: 'count', meaning: 'pods resized in place' },
  retemplates: { kind: 'count', meaning: 'templates given another size' },
  interruptions: { kind: 'count', meaning: 'spot nodes taken by the cloud' },
  nodesLost: { kind: 'count', meaning: 'nodes lost without notice' },
  oomKills: { kind: 'count', meaning: 'containers killed for want of memory' },
  rollouts: { kind: 'count', meaning: 'rollouts begun' },
} as const satisfies Readonly<Record<string, { readonly kind: SeriesKind; readonly meaning: string }>>;

export type SeriesName = keyof typeof seriesMeanings;
type NamesOf<K extends SeriesKind> = {
  [Name in SeriesName]: (typeof seriesMeanings)[Name]['kind'] extends K ? Name : never;
}[SeriesName];
export type LevelName = NamesOf<'level'>;
export type MeanName = NamesOf<'mean'>;
export type CountName = NamesOf<'count'>;

/** Lists of one length: value i belongs to the span that ends at `endMillis[i]` and begins where the one before ends, the first at 0. */
export type SimulationSeries = Readonly<
  { endMillis: readonly number[] } & Record<Exclude<SeriesName, 'cpuUsed'>, readonly number[]> & {
      cpuUsed?: readonly number[];
    }
>;

/** In the order of {@link seriesMeanings}, which is that of reports. */
export const seriesNames: readonly SeriesName[] = Object.keys(seriesMeanings).filter(isSeriesName);

export function isSeriesName(name: string): name is SeriesName {
  return Object.hasOwn(seriesMeanings, name);
}
