/** What is drawn of upheavals: replicas that die at a write, writes done twice, others who change what is written, and what is taken away and made again. */
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { Draw } from './draw.ts';
import type { Engines } from './random-sizing.ts';

export interface UpheavalWorld {
  readonly minutes: number;
  readonly engines: Engines;
  readonly policies: readonly { readonly name: string }[];
}

/** @returns events that belong together; none where what they are about is not there. */
export function randomUpheaval(draw: Draw, { minutes, engines, policies }: UpheavalWorld): ScenarioEventInput[] {
  // The last quarter is left to come to rest in.
  const last = Math.floor(minutes * 0.75);
  const begins = draw.between(2, last);
  const [at, lasting] = [`${begins}m`, `${draw.between(1, 15)}m`];
  return draw.pick<() => ScenarioEventInput[]>([
    () => [crashAtWrite(draw, at, engines)],
    () => [crashAtWrite(draw, at, engines), crashAtWrite(draw, at, engines)],
    () => [
      {
        at,
        do: 'api-fault',
        for: lasting,
        verbs: ['create', 'update', 'patch', 'delete'],
        probability: draw.pick([0.3, 1]),
        effect: { kind: 'twice' },
      },
    ],
    () => [
      {
        at,
        do: 'meddle',
        how: draw.pick(['sidecar', 'round-sizes', 'drop-affinity']),
        for: draw.pick([lasting, `${minutes}m`]),
      },
    ],
    () => [{ at, do: 'recreate-namespace', namespace: 'shop' }],
    () => (engines.rightsizing || engines.allocation ? [{ at, do: 'remove-definitions', for: lasting }] : []),
    () => swapPolicies(draw, at, policies),
    () => [
      { at, do: 'set-clock', of: 'all', by: draw.pick(['45s', '3h']), direction: draw.pick(['forwards', 'backwards']) },
    ],
  ])();
}

function crashAtWrite(draw: Draw, at: string, { rightsizing, allocation }: Engines): ScenarioEventInput {
  const resource = draw.pick([
    'pods/eviction',
    'pods',
    'leases',
    'deployments',
    ...(rightsizing ? ['statefulsets', 'configmaps', 'optimizationpolicies'] : []),
    ...(allocation ? ['podallocations'] : []),
  ]);
  const moment = draw.pick(['before', 'after', 'after'] as const);
  return { at, do: 'crash-at-write', resource, moment, after: `${draw.between(1, 60)}s` };
}

/** Each selects what the other did. */
function swapPolicies(draw: Draw, at: string, policies: readonly { readonly name: string }[]): ScenarioEventInput[] {
  const [one, other] = [draw.pick([...policies, undefined]), draw.pick([...policies, undefined])];
  if (one === undefined || other === undefined || one === other) return [];
  const selecting = (policy: string, size: string): ScenarioEventInput => ({
    at,
    do: 'change-policy',
    policy: `shop/${policy}`,
    spec: { selector: { workloadSelector: { matchLabels: { size } } } },
  });
  return [selecting(one.name, other.name), selecting(other.name, one.name)];
}
