/** What is drawn of others: people, clouds and machines that change things while Stowage works. */
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { ScenarioInput } from '../scenario/schema.ts';
import type { Draw } from './draw.ts';
import type { WorkloadInput } from './random-sizing.ts';

type ObjectInput = NonNullable<ScenarioInput['objects']>[number];

/** What is there for others to change. */
export interface OthersWorld {
  readonly minutes: number;
  readonly workloads: readonly WorkloadInput[];
  readonly objects: readonly ObjectInput[];
}

/** Clocks and clouds as they are not in a test: a replica's clock is off, machines are taken one by one or all at once. */
export function randomWeather(draw: Draw): Pick<ScenarioInput, 'clockSkew' | 'correlation'> {
  return { clockSkew: draw.pick(['0s', '0s', '1s', '30s', '90s']), correlation: draw.pick([0.1, 0.5, 1]) };
}

export function randomOthersEvent(draw: Draw, { minutes, workloads, objects }: OthersWorld): ScenarioEventInput[] {
  // The last quarter is left to come to rest in.
  const at = `${draw.between(2, Math.floor(minutes * 0.75))}m`;
  const lasting = `${draw.between(1, 15)}m`;
  const { name, pdb, kind = 'Deployment' } = draw.pick(workloads);
  const workload = `shop/${name}`;
  const budget = draw.pick([{ maxUnavailable: 0 }, { maxUnavailable: 1 }, { maxUnavailable: '50%' }]);
  const quota = objects.find(({ kind }) => kind === 'ResourceQuota');
  return draw.pick<() => ScenarioEventInput[]>([
    () => [
      {
        at,
        do: 'drain-nodes',
        pools: draw.pick(['*', 'spot-*', 'on-demand']),
        count: draw.between(1, 3),
        for: lasting,
      },
    ],
    () => [{ at, do: 'delete-pods', workload, count: draw.between(1, 5) }],
    () => [{ at, do: 'recreate', workload }],
    () => [
      {
        at,
        do: 'webhook-down',
        share: draw.pick([0.1, 0.5]),
        loses: draw.pick(['requests', 'answers']),
        for: lasting,
      },
    ],
    () => reload(draw, at),
    () => [enabled(draw, at, workload, kind)],
    () =>
      pdb === undefined
        ? []
        : [
            {
              at,
              do: 'patch',
              kind: 'PodDisruptionBudget',
              object: workload,
              body: { spec: { minAvailable: null, ...budget } },
            },
          ],
    () =>
      quota === undefined
        ? []
        : [
            {
              at,
              do: 'patch',
              kind: 'ResourceQuota',
              object: 'shop/drawn',
              body: { spec: { hard: { 'requests.cpu': `${draw.between(5, 90)}` } } },
            },
          ],
  ])();
}

/** One replica may have the new file while another has the old one, as during an upgrade. */
function reload(draw: Draw, at: string): ScenarioEventInput[] {
  const operator = draw.pick([
    { controllers: { workloadTiming: { cooldownPeriod: draw.pick(['5s', '2m']) } } },
    { placement: { fallback: { after: draw.pick(['30s', '10m']) } } },
    { placement: { claimTimeout: draw.pick(['10s', '2m']) } },
    { placement: { stuckRolloutAfter: draw.pick(['1m', '1h']) } },
    { placement: { allowSingleReplica: draw.chance(0.5) } },
  ]);
  return [{ at, do: 'reload-config', operator, reaches: draw.pick(['all', 'oldest']) }];
}

/** Management begins and ends; the value is what Kubernetes stores, and only "true" means yes. */
function enabled(draw: Draw, at: string, workload: string, kind: string): ScenarioEventInput {
  const body = { metadata: { labels: { 'spotalis.io/enabled': draw.pick(['true', 'false']) } } };
  return { at, do: 'patch', kind, object: workload, body };
}
