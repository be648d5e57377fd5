/**
 * What is drawn of rarer trouble: half a network, clocks that are set, pods that do not go, answers that are wrong,
 * rules that come late.
 */
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { ScenarioInput } from '../scenario/schema.ts';
import type { Draw } from './draw.ts';
import type { Engines, WorkloadInput } from './random-sizing.ts';

type NamespaceInput = NonNullable<ScenarioInput['namespaces']>[number];

/** What there is to be in trouble. */
export interface TroubleWorld {
  readonly minutes: number;
  readonly engines: Engines;
  readonly workloads: readonly WorkloadInput[];
  readonly policies: readonly { readonly name: string }[];
}

/** A namespace whose people want nothing of Stowage, with a workload that looks as if they did. */
export function randomBystanders(
  draw: Draw,
  policies: readonly { readonly name: string }[],
): { readonly namespaces: readonly NamespaceInput[]; readonly workloads: readonly WorkloadInput[] } {
  if (draw.chance(0.5)) return { namespaces: [], workloads: [] };
  const size = policies.length === 0 ? undefined : draw.pick(policies).name;
  const workload: WorkloadInput = {
    name: 'bystander',
    namespace: 'closed',
    kind: draw.pick(['Deployment', 'StatefulSet']),
    replicas: draw.between(1, 5),
    spot: '100',
    cpu: '500m',
    memory: '512Mi',
    use: { cpu: '50m', memory: '64Mi' },
    labels: size === undefined ? {} : { size },
  };
  return {
    namespaces: [{ name: 'closed', enabled: false, annotations: { 'mbcas.io/managed': 'false' } }],
    workloads: [workload],
  };
}

/** @returns events that belong together; none where what they are about is not there. */
export function randomTrouble(
  draw: Draw,
  { minutes, engines, workloads, policies }: TroubleWorld,
): ScenarioEventInput[] {
  // The last quarter is left to come to rest in.
  const begins = draw.between(2, Math.floor(minutes * 0.75));
  const lasts = draw.between(1, 15);
  const [at, lasting] = [`${begins}m`, `${lasts}m`];
  const until = `${Math.min(begins + lasts, Math.floor(minutes * 0.75) + 1)}m`;
  const { name, kind = 'Deployment' } = draw.pick(workloads);
  const workload = `shop/${name}`;
  return draw.pick<() => ScenarioEventInput[]>([
    () => [{ at, do: 'isolate-operator', for: lasting }],
    () => [{ at, do: 'set-clock', by: draw.pick(CLOCK_ERRORS), direction: draw.pick(['forwards', 'backwards']) }],
    () => [{ at, do: 'hold-pods', workload, count: draw.between(1, 4), for: lasting }],
    () => [{ at, do: 'silence-nodes', pools: draw.pick(['*', 'spot-*']), count: draw.between(1, 2), for: lasting }],
    () => [randomCallFault(draw, at, lasting)],
    () => [randomWatchFault(draw, at, lasting)],
    () => randomLateRule(draw, { at, until, name }),
    () => [
      patchTemplate({ at, kind, workload, readyAfter: '10h' }),
      patchTemplate({ at: until, kind, workload, readyAfter: '5s' }),
    ],
    () =>
      kind === 'Deployment'
        ? [
            { at, do: 'patch', kind, object: workload, body: { spec: { paused: true } } },
            { at: until, do: 'patch', kind, object: workload, body: { spec: { paused: null } } },
          ]
        : [],
    () => [enabledNamespace(at, 'false'), ...(draw.chance(0.7) ? [enabledNamespace(until, 'true')] : [])],
    () =>
      engines.rightsizing
        ? [{ at, do: 'metrics-wrong', tells: draw.pick(['part', 'old', 'nonsense']), for: lasting }]
        : [],
    () => (engines.rightsizing ? [{ at, do: 'delete-policy', policy: `shop/${draw.pick(policies).name}` }] : []),
  ])();
}

const CLOCK_ERRORS = ['2s', '45s', '10m', '3h'];

/** Some calls fail while others do not. */
function randomCallFault(draw: Draw, at: string, lasting: string): ScenarioEventInput {
  const resources = draw.pick([['pods/eviction'], ['pods/resize'], ['leases'], ['events'], ['deployments'], ['pods']]);
  return {
    at,
    do: 'api-fault',
    for: lasting,
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
    resources,
    probability: draw.pick([0.3, 1]),
    effect: draw.pick([
      { kind: 'drop-after' },
      { kind: 'freeze', millis: 40_000 },
      { kind: 'slow', millis: 4000 },
      ...[401, 403, 409, 500, 504].map((code) => ({ kind: 'status' as const, code })),
    ]),
  };
}

/** One kind is known less well than the others. */
function randomWatchFault(draw: Draw, at: string, lasting: string): ScenarioEventInput {
  const kinds = ['pods', 'nodes', 'deployments', 'statefulsets', 'replicasets', 'poddisruptionbudgets', 'namespaces'];
  return {
    at,
    do: 'api-fault',
    for: lasting,
    verbs: draw.pick([['watch'], ['list', 'watch']]),
    resources: [draw.pick(kinds)],
    probability: draw.pick([0.5, 1]),
    effect: draw.pick([
      { kind: 'outage' },
      { kind: 'drop' },
      { kind: 'delay-events', millis: 20_000 },
      { kind: 'cut-watch', afterEvents: 1 },
      { kind: 'expire-watch', afterEvents: 1 },
      { kind: 'stale-reads', revisions: 100 },
      { kind: 'status', code: 403 },
    ]),
  };
}

/** Somebody sets bounds to what runs already, and takes them away again. */
function randomLateRule(
  draw: Draw,
  { at, until, name }: { readonly at: string; readonly until: string; readonly name: string },
): ScenarioEventInput[] {
  const metadata = { name: 'late', namespace: 'shop' };
  const object = draw.pick([
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: `${draw.between(1, 60)}` } } },
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata,
      spec: { hard: { 'requests.cpu': `${draw.between(2, 30)}`, 'requests.memory': `${draw.between(2, 30)}Gi` } },
    },
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata,
      spec: { limits: [{ type: 'Container', min: { cpu: '50m', memory: '100Mi' } }] },
    },
    // A second one on the same pods is more than the eviction API can deal with.
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { maxUnavailable: draw.pick([0, 1]), selector: { matchLabels: { app: name } } },
    },
  ]);
  const removal: ScenarioEventInput[] = draw.chance(0.5)
    ? [{ at: until, do: 'delete', kind: object.kind, object: 'shop/late' }]
    : [];
  return [{ at, do: 'apply', object }, ...removal];
}

/** A revision whose pods are not ready for so long. */
function patchTemplate(options: {
  readonly at: string;
  readonly kind: string;
  readonly workload: string;
  readonly readyAfter: string;
}): ScenarioEventInput {
  const annotations = { 'stowage.test/ready-after': options.readyAfter };
  const body = { spec: { template: { metadata: { annotations } } } };
  return { at: options.at, do: 'patch', kind: options.kind, object: options.workload, body };
}

function enabledNamespace(at: string, enabled: string): ScenarioEventInput {
  const metadata = { name: 'shop', labels: { 'spotalis.io/enabled': enabled } };
  return { at, do: 'apply', object: { apiVersion: 'v1', kind: 'Namespace', metadata } };
}
