/** A scenario drawn at random from a seed: pools, workloads, load, and a schedule of things that go wrong. */
import { createSeededRandom } from '../../lib/random.ts';
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { ScenarioInput } from '../scenario/schema.ts';
import { createDraw, type Draw } from './draw.ts';
import { randomOthersEvent, randomWeather } from './random-others.ts';
import { randomRivals, randomSharedLoad, randomSizeRivals } from './random-rivals.ts';
import {
  randomEngines,
  randomObjects,
  randomPolicies,
  randomReplicaSizes,
  randomSizes,
  randomSizingConfig,
  randomSizingEvent,
  type WorkloadInput,
} from './random-sizing.ts';
import { randomBystanders, randomTrouble } from './random-trouble.ts';
import { randomUpheaval } from './random-upheaval.ts';

/** What can be drawn; tests take less than the night. */
export interface ChaosSize {
  /** Longest simulated time, hours. */
  readonly hours: number;
  readonly workloads: number;
  readonly events: number;
}

export const SHORT_CHAOS: ChaosSize = { hours: 1, workloads: 3, events: 6 };
export const LONG_CHAOS: ChaosSize = { hours: 8, workloads: 8, events: 20 };

/** Far from any seed. */
const SIZING_STREAM = 7_000_000;
const OTHERS_STREAM = 8_000_000;
const TROUBLE_STREAM = 9_000_000;
const UPHEAVAL_STREAM = 10_000_000;
const REPLICAS_STREAM = 11_000_000;
const RIVALS_STREAM = 12_000_000;
const NODE_CLOCKS_STREAM = 13_000_000;
const SIZE_RIVALS_STREAM = 14_000_000;

/** The same seed and size give the same scenario; as input, so that it can be written to a file and run again. */
export function randomScenario(seed: number, size: ChaosSize): ScenarioInput {
  const draw = createDraw(createSeededRandom(seed));
  const minutes = 60 * draw.between(1, size.hours);
  const placed = Array.from({ length: draw.between(1, size.workloads) }, (_, index) => randomWorkload(draw, index));
  // A stream of its own: what placement is put through stays the same whichever engines run beside it.
  const sizing = createDraw(createSeededRandom(seed + SIZING_STREAM));
  const engines = randomEngines(sizing);
  const drawn = engines.rightsizing ? randomPolicies(sizing) : [];
  const sized = placed.map((workload) => randomSizes(sizing, workload, engines, drawn));
  const apart = createDraw(createSeededRandom(seed + REPLICAS_STREAM));
  const { policies, workloads } = randomReplicaSizes(apart, drawn, sized);
  const replicas = draw.pick([1, 1, 2, 3]);
  const objects = randomObjects(sizing, workloads, engines);
  const others = createDraw(createSeededRandom(seed + OTHERS_STREAM));
  const trouble = createDraw(createSeededRandom(seed + TROUBLE_STREAM));
  const upheaval = createDraw(createSeededRandom(seed + UPHEAVAL_STREAM));
  const rivals = createDraw(createSeededRandom(seed + RIVALS_STREAM));
  const bystanders = randomBystanders(trouble, policies);
  return {
    name: `chaos-${seed}`,
    description: `Drawn at random with seed ${seed}.`,
    duration: `${minutes}m`,
    seed,
    replicas,
    pools: randomPools(draw),
    namespaces: [
      { name: 'shop', annotations: { 'spotalis.io/spot-percentage': String(draw.between(0, 100)) } },
      ...bystanders.namespaces,
    ],
    workloads: [...randomSharedLoad(rivals, workloads, objects), ...bystanders.workloads],
    policies: [...policies],
    objects,
    ...randomWeather(others),
    nodeClockSkew: createDraw(createSeededRandom(seed + NODE_CLOCKS_STREAM)).pick(['0s', '0s', '20s', '20m', '3h']),
    agents: sizing.pick([0.3, 0.7, 1]),
    operator: { ...randomConfig(draw), ...randomSizingConfig(sizing, engines) },
    events: [
      ...Array.from({ length: draw.between(1, size.events) }, () => randomEvent(draw, minutes, workloads)),
      ...Array.from({ length: sizing.between(0, size.events / 2) }, () =>
        randomSizingEvent(sizing, minutes, engines, policies),
      ).flat(),
      ...Array.from({ length: others.between(0, size.events / 2) }, () =>
        randomOthersEvent(others, { minutes, workloads, objects }),
      ).flat(),
      ...Array.from({ length: trouble.between(0, size.events / 2) }, () =>
        randomTrouble(trouble, { minutes, engines, workloads, policies }),
      ).flat(),
      ...Array.from({ length: upheaval.between(0, size.events / 4) }, () =>
        randomUpheaval(upheaval, { minutes, engines, policies }),
      ).flat(),
      ...Array.from({ length: rivals.between(0, size.events / 6) }, () => randomRivals(rivals, minutes)).flat(),
      ...randomSizeRivals(createDraw(createSeededRandom(seed + SIZE_RIVALS_STREAM)), minutes, engines),
    ],
  };
}

function randomPools(draw: Draw): ScenarioInput['pools'] {
  const interruptions = draw.pick(['0', '<5%/hour', '5-10%/hour', '>20%/hour', '15-20%/month']);
  const types = draw.some(['m6i.xlarge', 'm7g.xlarge', 'c7g.xlarge', 'm5.large'], 1, 3);
  return [
    { name: 'on-demand', class: 'on-demand', type: 'm6i.xlarge', min: draw.between(0, 3) },
    ...types.map((type, index) => ({
      name: `spot-${index}`,
      class: 'spot' as const,
      type,
      interruptions,
      max: draw.pick([2, 5, 500]),
      provision: `${draw.between(20, 120)}s`,
    })),
  ];
}

function randomWorkload(draw: Draw, index: number): WorkloadInput {
  const replicas = draw.between(1, 25);
  const budgets = [
    undefined,
    { maxUnavailable: 1 },
    { maxUnavailable: '25%' },
    { minAvailable: Math.max(1, replicas - 2) },
    { maxUnavailable: 0 },
  ];
  const pdb = draw.pick(budgets);
  const hasLoad = draw.chance(0.3);
  return {
    name: `w${index}`,
    namespace: 'shop',
    kind: draw.pick(['Deployment', 'Deployment', 'StatefulSet']),
    replicas: hasLoad
      ? { points: { '0h': replicas, '20m': draw.between(1, 40), '50m': draw.between(0, 40) }, every: '1h', noise: 0.1 }
      : replicas,
    ...(draw.chance(0.8) ? { spot: String(draw.between(0, 100)) } : {}),
    floor: draw.pick(['0', '1', '3', '30%', '100%']),
    cpu: draw.pick(['100m', '250m', '1']),
    memory: '256Mi',
    ready: `${draw.between(0, 40)}s`,
    ...(pdb === undefined ? {} : { pdb }),
    ...(draw.chance(0.4)
      ? { annotations: { 'spotalis.io/disruption-schedule': '*/20 * * * *', 'spotalis.io/disruption-duration': '5m' } }
      : {}),
  };
}

function randomConfig(draw: Draw): Record<string, unknown> {
  const cooldownPeriod = draw.pick(['10s', '1m', '5s']);
  return {
    operator: { readOnlyMode: draw.chance(0.05) },
    controllers: { workloadTiming: { cooldownPeriod } },
    placement: {
      rounding: draw.pick(['ceil', 'ceil', 'floor']),
      maxConcurrentEvictions: draw.pick([1, 2, 5]),
      fallback: { after: draw.pick(['30s', '2m', '5m']), returnPerWindow: draw.pick([1, 3, 10]) },
    },
  };
}

function randomEvent(draw: Draw, minutes: number, workloads: readonly WorkloadInput[]): ScenarioEventInput {
  // The last quarter is left to come to rest in.
  const at = `${draw.between(2, Math.floor(minutes * 0.75))}m`;
  const lasting = `${draw.between(1, 15)}m`;
  const workload = `shop/${draw.pick(workloads).name}`;
  const spot = 'spot-*';
  return draw.pick<() => ScenarioEventInput>([
    () => ({ at, do: 'close-pools', pools: draw.pick([spot, 'spot-0']), for: lasting }),
    () => ({ at, do: 'close-pools', pools: 'on-demand', for: lasting }),
    () => ({ at, do: 'storm', pools: spot, share: `${draw.between(10, 100)}%`, within: lasting }),
    () => ({ at, do: 'lose-nodes', pools: draw.pick(['*', spot]), count: draw.between(1, 3) }),
    () => ({ at, do: 'webhook-down', for: lasting }),
    () => ({ at, do: 'rollout', workload }),
    () => ({ at, do: 'scale', workload, replicas: draw.between(0, 30) }),
    () => ({
      at,
      do: 'annotate',
      target: workload,
      annotations: { 'spotalis.io/spot-percentage': draw.pick(['0', '30', '70', '100', 'many']) },
    }),
    () => ({
      at,
      do: 'annotate',
      target: workload,
      annotations: { 'spotalis.io/min-on-demand': draw.pick(['0', '2', '50%']) },
    }),
    () => ({ at, do: draw.pick(['restart-operator', 'crash-operator']), after: `${draw.between(1, 60)}s` }),
    () => ({
      at,
      do: 'api-fault',
      for: lasting,
      probability: draw.pick([0.1, 0.5, 1]),
      effect: draw.pick([
        { kind: 'drop' },
        { kind: 'drop-after' },
        { kind: 'outage' },
        { kind: 'freeze', millis: 20_000 },
        { kind: 'stale-reads', revisions: 20 },
        { kind: 'slow', millis: 1500 },
        { kind: 'status', code: 500 },
        { kind: 'status', code: 503, retryAfterSeconds: 5 },
        { kind: 'status', code: 429, retryAfterSeconds: 2 },
        { kind: 'cut-watch', afterEvents: 3 },
        { kind: 'expire-watch', afterEvents: 5 },
        { kind: 'duplicate-events' },
        { kind: 'lose-bookmarks' },
        { kind: 'delay-events', millis: 3000 },
      ]),
    }),
  ])();
}
