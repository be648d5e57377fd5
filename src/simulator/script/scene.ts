/** What an event finds in the cluster, by the names that scenarios use; and the ways in which several of them act. */
import type { KubeObject, Pod } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { sleep } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import { draw, matchesGlob } from '../choose.ts';
import type { WorkloadFacts } from '../fleet-watch.ts';
import type { MetricsLie } from '../lying-metrics.ts';
import { type SimulatedPool, workloadType } from '../objects.ts';
import type { Overlays } from '../overlays.ts';
import type { PeopleOptions } from '../people.ts';
import type { Unrest } from '../unrest.ts';
import type { UpheavalOptions } from '../upheavals.ts';
import type { WebhookTrouble } from '../world.ts';
import type { ScriptOptions } from './script.ts';

/** Events of one kind may overlap: the end of one is not that of another. */
export interface Conditions {
  readonly webhook: Overlays<WebhookTrouble>;
  readonly metricsDown: Overlays<true>;
  readonly metricsLie: Overlays<MetricsLie>;
  readonly unrest: Unrest;
}

/** Keys are `namespace/name`. What looks something up throws in a sentence where there is none. */
export interface Scene extends ScriptOptions {
  readonly conditions: Conditions;
  readonly signal: AbortSignal;
  readonly people: PeopleOptions;
  readonly upheavalOptions: UpheavalOptions;
  /** Rejects when the script ends early. */
  pause(millis: Millis): Promise<void>;
  /** Holds a condition for a time. */
  lastFor<T>(overlays: Overlays<T>, value: T, millis: Millis): Promise<void>;
  /** Pools by name; `*` in it stands for any text. */
  poolsLike(pattern: string): SimulatedPool[];
  /** So many nodes of such pools, any of them. */
  someNodes(pattern: string, count: number): string[];
  /** So many live pods of a workload, any of them. */
  somePods(workload: string, count: number): Pod[];
  workloadTypeOf(workload: string): ResourceType;
  /** A built-in one. */
  typeOf(kind: string): ResourceType;
  patchObject(type: ResourceType, key: string, body: object): Promise<KubeObject>;
  patchWorkload(workload: string, body: object): Promise<KubeObject>;
}

export function createScene(options: ScriptOptions, conditions: Conditions, signal: AbortSignal): Scene {
  const { cluster, clock, fleet, pools, random } = options;
  const pause = (millis: Millis): Promise<void> => sleep(clock, millis, signal);
  const poolsLike = (pattern: string): SimulatedPool[] => {
    const found = pools.filter(({ name }) => matchesGlob(pattern, name));
    if (found.length === 0) throw new Error(`no pool is called ${pattern}`);
    return found;
  };
  const workloadOf = (key: string): WorkloadFacts => {
    const facts = fleet.workload(key);
    if (facts === undefined) throw new Error(`there is no workload ${key}`);
    return facts;
  };
  const workloadTypeOf = (key: string): ResourceType => workloadType(workloadOf(key).kind);
  const patchObject: Scene['patchObject'] = (type, key, body) =>
    cluster.api.patch(type, nameIn(key), { type: 'merge', body }, { namespace: namespaceIn(key) });
  return {
    ...options,
    conditions,
    signal,
    people: { api: cluster.api, caches: cluster.caches, clock, signal },
    upheavalOptions: { ...options.upheavals, cluster, clock, signal },
    pause,
    async lastFor(overlays, value, millis) {
      const end = overlays.begin(value);
      await pause(millis);
      end();
    },
    poolsLike,
    someNodes(pattern, count) {
      const nodes = poolsLike(pattern).flatMap(({ name }) => cluster.autoscaler.nodesOf(name));
      return draw(nodes, count, random);
    },
    somePods(key, count) {
      const live = [...workloadOf(key).pods].flatMap(([uid, { isLive }]) => (isLive ? [uid] : []));
      const drawn = new Set(draw(live, count, random));
      return [...cluster.caches.of(resources.pods).all()].filter((pod) => drawn.has(pod.metadata?.uid ?? ''));
    },
    workloadTypeOf,
    typeOf(kind) {
      const type = Object.values<ResourceType>(resources).find((each) => each.kind === kind);
      if (type === undefined) throw new Error(`the kind ${kind} is not known here`);
      return type;
    },
    patchObject,
    patchWorkload: async (key, body) => patchObject(workloadTypeOf(key), key, body),
  };
}

export const namespaceIn = (key: string): string => key.split('/')[0] ?? '';

export const nameIn = (key: string): string => key.split('/')[1] ?? '';
