/** What is drawn for the sizing engines: which of them run, loads, limits, policies, and what else bears upon sizes. */
import { treeAt } from '../policy-book.ts';
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { ScenarioInput } from '../scenario/schema.ts';
import type { Draw } from './draw.ts';

export type WorkloadInput = NonNullable<ScenarioInput['workloads']>[number];
type PolicyInput = NonNullable<ScenarioInput['policies']>[number];

export interface Engines {
  readonly placement: true;
  readonly rightsizing: boolean;
  readonly allocation: boolean;
}

export function randomEngines(draw: Draw): Engines {
  return { placement: true, rightsizing: draw.chance(0.6), allocation: draw.chance(0.4) };
}

export function randomSizingConfig(draw: Draw, engines: Engines): Record<string, unknown> {
  return {
    engines,
    rightsizing: {
      dryRun: draw.chance(0.1),
      warmUp: draw.pick(['0s', '2m']),
      canaryPeriod: draw.pick(['15s', '1m', '3m']),
      revertWindow: draw.pick(['1m', '5m', '30m']),
      deferredTimeout: draw.pick(['30s', '5m']),
      // Without one, what a leak takes between a sample and the write is above a limit lowered in between: its user's choice.
      memoryMargin: draw.pick([10, 10, 30]),
      maxConcurrentResizes: draw.pick([1, 10]),
      maxChangesPerMinute: draw.pick([3, 60]),
    },
    allocation: {
      apply: draw.pick(['requests+ceilings', 'requests+ceilings', 'limits', 'observe']),
      warmUp: draw.pick(['0s', '10s']),
    },
  };
}

export function randomPolicies(draw: Draw): PolicyInput[] {
  return Array.from({ length: draw.between(1, 3) }, (_, index) => ({
    name: `p${index}`,
    namespace: 'shop',
    spec: {
      mode: draw.pick(['Auto', 'Auto', 'Auto', 'Recommend']),
      selector: { workloadSelector: { matchLabels: { size: `p${index}` } } },
      metricsConfig: {
        provider: 'metrics-server',
        strategy: draw.pick(['Percentile', 'Histogram', 'Max', 'CostAware']),
        rollingWindow: draw.pick(['10m', '1h']),
        percentile: draw.pick(['P50', 'P90', 'P99']),
        safetyFactor: draw.pick([1, 1.2, 2]),
        minHistory: draw.pick(['0s', '5m']),
        minSamples: draw.pick([1, 5]),
        startupExclusion: draw.pick(['0s', '1m']),
      },
      resourceBounds: {
        cpu: { min: draw.pick(['10m', '50m']), max: draw.pick(['500m', '2', '8']) },
        memory: { min: draw.pick(['16Mi', '128Mi']), max: draw.pick(['512Mi', '4Gi', '64Gi']) },
      },
      updateStrategy: randomUpdates(draw),
      reconciliationInterval: draw.pick(['10s', '1m', '5m']),
      hpa: draw.pick(['Skip', 'KeepScalePoint', 'LimitsOnly', 'Ignore']),
    },
  }));
}

function randomUpdates(draw: Draw): Record<string, unknown> {
  const policy = draw.pick([undefined, 'Keep', 'Ratio']);
  const [inPlace, recreate, evict] = draw.pick([
    [true, false, false],
    [true, false, false],
    [true, true, false],
    [false, true, false],
    [false, true, true],
  ]);
  return {
    allowInPlaceResize: inPlace,
    allowRecreate: recreate,
    evictToResize: evict,
    updateRequestsOnly: draw.chance(0.5),
    minChange: draw.pick(['0%', '5%', '10%']),
    cooldown: draw.pick(['1m', '5m', '1h']),
    maxStep: { down: draw.pick(['20%', '50%', '100%']) },
    memoryDecrease: draw.pick(['WhenSafe', 'WhenSafe', 'Always', 'Never']),
    ...(policy === undefined ? {} : { limitConfig: { policy } }),
  };
}

/** The workload with a load, limits, and the labels by which the engines find it. */
export function randomSizes(
  draw: Draw,
  workload: WorkloadInput,
  engines: Engines,
  policies: readonly PolicyInput[],
): WorkloadInput {
  if (!engines.rightsizing && !engines.allocation) return workload;
  const isSized = engines.rightsizing && draw.chance(0.8);
  const isShared = engines.allocation && draw.chance(0.6);
  const policy = isSized ? draw.pick(policies).name : undefined;
  const limits = draw.pick([
    {},
    { memory: '512Mi' },
    { memory: '512Mi', cpu: '2' },
    { memory: '256Mi', cpu: workload.cpu ?? '250m' },
  ]);
  return {
    ...workload,
    limits,
    use: { cpu: randomCpuUse(draw), memory: randomMemoryUse(draw) },
    ...(draw.chance(0.1) ? { restartOnResize: ['memory'] } : {}),
    labels: policy === undefined ? {} : { size: policy },
    podLabels: isShared ? { 'mbcas.io/managed': 'true' } : {},
  };
}

function randomCpuUse(draw: Draw): string {
  return draw.pick([
    '20m',
    '80m',
    '400m',
    'square(50m, 600m, 10m)',
    'bursty(50m, 900m, 15m, 1m)',
    'noise(200m, 100m, 1m)',
    'startup(60m, 700m, 90s)',
    'step(50m, 500m, 30m)',
    '3',
  ]);
}

function randomMemoryUse(draw: Draw): string {
  return draw.pick([
    '40Mi',
    '150Mi',
    '230Mi',
    'leak(60Mi, 200Mi)',
    'leak(100Mi, 900Mi)',
    'plateau(50Mi, 200Mi, 20m)',
    'noise(120Mi, 40Mi, 1m)',
    'step(60Mi, 400Mi, 40m)',
    'startup(80Mi, 220Mi, 2m)',
  ]);
}

/**
 * Sizes per replica, in every fourth history that is sized: most policies ask for it, most workloads have replicas with an
 * identity, and most of these are used unevenly.
 */
export function randomReplicaSizes(
  draw: Draw,
  policies: readonly PolicyInput[],
  workloads: readonly WorkloadInput[],
): { readonly policies: readonly PolicyInput[]; readonly workloads: readonly WorkloadInput[] } {
  if (policies.length === 0 || !draw.chance(0.25)) return { policies, workloads };
  return {
    policies: policies.map(({ spec, ...policy }) => {
      const updates = treeAt(spec, 'updateStrategy');
      const allowInPlaceResize = updates['allowInPlaceResize'] === true || draw.chance(0.8);
      const updateStrategy = { ...updates, allowInPlaceResize, sizePerReplica: draw.chance(0.8) };
      return { ...policy, spec: { ...spec, updateStrategy } };
    }),
    workloads: workloads.map((workload) => {
      if (workload.use === undefined || !draw.chance(0.7)) return workload;
      return { ...workload, kind: 'StatefulSet', ...(draw.chance(0.8) && { use: randomUnevenUse(draw) }) };
    }),
  };
}

/** Each pod by chance, which its name decides. */
function randomUnevenUse(draw: Draw): NonNullable<WorkloadInput['use']> {
  return {
    cpu: draw.pick(['bursty(40m, 900m, 24h, 8h)', 'noise(200m, 190m, 8h)', 'noise(200m, 190m, 20m)']),
    memory: draw.pick(['bursty(50Mi, 230Mi, 24h, 8h)', 'noise(130Mi, 100Mi, 8h)', 'noise(130Mi, 100Mi, 20m)']),
  };
}

/** Bounds, a quota and an autoscaler; none of them stops a workload from being made at all. */
export function randomObjects(
  draw: Draw,
  workloads: readonly WorkloadInput[],
  engines: Engines,
): NonNullable<ScenarioInput['objects']> {
  if (!engines.rightsizing) return [];
  const scaled = workloads.find(({ replicas }) => typeof replicas === 'number');
  const metadata = { name: 'drawn', namespace: 'shop' };
  const objects: NonNullable<ScenarioInput['objects']> = [];
  if (draw.chance(0.3)) {
    const limit = { type: 'Container', max: { cpu: '3', memory: '1Gi' }, min: { cpu: '20m', memory: '32Mi' } };
    // A maximum is also the limit of what has none: that would make other pods of these.
    objects.push({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata,
      spec: { limits: [{ type: limit.type, min: limit.min }] },
    });
  }
  if (draw.chance(0.3)) {
    const hard = { 'requests.cpu': `${draw.between(15, 90)}`, 'requests.memory': `${draw.between(20, 90)}Gi` };
    objects.push({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
  }
  if (scaled !== undefined && draw.chance(0.3)) {
    const target = { type: 'Utilization', averageUtilization: draw.pick([50, 80]) };
    objects.push({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: scaled.kind ?? 'Deployment', name: scaled.name },
        minReplicas: 1,
        maxReplicas: 20,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      },
    });
  }
  return objects;
}

/** Something that happens to an engine that runs; nothing where none does. */
export function randomSizingEvent(
  draw: Draw,
  minutes: number,
  engines: Engines,
  policies: readonly PolicyInput[],
): ScenarioEventInput[] {
  const at = `${draw.between(2, Math.floor(minutes * 0.75))}m`;
  const lasting = `${draw.between(1, 15)}m`;
  const events: ScenarioEventInput[] = [];
  if (engines.rightsizing) {
    const policy = `shop/${draw.pick(policies).name}`;
    events.push(
      { at, do: 'metrics-down', for: lasting },
      { at, do: 'change-policy', policy, spec: { mode: draw.pick(['Auto', 'Recommend', 'Disabled']) } },
      { at, do: 'change-policy', policy, spec: { metricsConfig: { safetyFactor: draw.pick([1, 1.5, 3]) } } },
    );
  }
  if (engines.allocation)
    events.push(
      { at, do: 'kill-agents', count: draw.between(1, 4), after: `${draw.between(5, 400)}s` },
      {
        at,
        do: 'api-fault',
        of: 'agents',
        for: lasting,
        probability: draw.pick([0.3, 1]),
        effect: draw.pick([{ kind: 'drop' }, { kind: 'status', code: 500 }, { kind: 'drop-after' }]),
      },
    );
  return events.length === 0 ? [] : [draw.pick(events)];
}
