/** Plays the events of a scenario at their times, each through the API or the machinery that such a thing happens in. */
import type { Pod } from '../api/core.ts';
import { isNotFound } from '../api/kube-error.ts';
import { policyType } from '../api/optimization-policy.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import { draw, matchesGlob } from './choose.ts';
import { faultOf } from './fault-of-event.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import type { MetricsLie } from './lying-metrics.ts';
import type { Market } from './market.ts';
import { beginMeddling } from './meddlers.ts';
import { type SimulatedPool, workloadType } from './objects.ts';
import type { OperatorTeam } from './operator-team.ts';
import { createOverlays, type Overlays } from './overlays.ts';
import { deletePod, drainNode, holdPod, recreate } from './people.ts';
import type { ScenarioEvent } from './scenario/events.ts';
import { createUnrest, type Unrest } from './unrest.ts';
import { recreateNamespace, removeDefinitions, type UpheavalOptions } from './upheavals.ts';
import type { WebhookTrouble } from './world.ts';

/** What events act upon. Nothing of it reaches into the operator but its configuration and its replicas' lives. */
export interface ScriptOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly pools: readonly SimulatedPool[];
  readonly market: Market;
  readonly fleet: FleetWatch;
  readonly events: readonly ScenarioEvent[];
  /** Whose calls `api-fault` disturbs. */
  readonly users: { readonly operator: string; readonly agents: string };
  /** A policy's spec was patched. */
  readonly changePolicy: (key: string, spec: Readonly<Record<string, unknown>>) => void;
  readonly removePolicy: (key: string) => void;
  readonly setMetricsUp: (isUp: boolean) => void;
  /** Undefined: the truth again. */
  readonly setMetricsLie: (lie: MetricsLie | undefined) => void;
  readonly replaceAgents: (count: number, afterMillis: Millis) => Promise<void>;
  /** Undefined ends it. */
  readonly setWebhookTrouble: (trouble: WebhookTrouble | undefined) => void;
  readonly replaceOperator: (how: 'stop' | 'crash', afterMillis: Millis) => Promise<void>;
  readonly isolateOperator: (forMillis: Millis) => Promise<void>;
  readonly replaceAtWrite: OperatorTeam['replaceAtWrite'];
  readonly setClock: OperatorTeam['setClock'];
  readonly upheavals: Omit<UpheavalOptions, 'cluster' | 'clock' | 'signal'>;
  /** A changed configuration of the operator, as a part of its file. */
  readonly reloadConfig: (change: Readonly<Record<string, unknown>>, reaches: 'all' | 'oldest') => void;
  readonly onNodeLost: (node: string) => void;
  readonly onNodeDrained: (node: string) => void;
  /** The market has changed. */
  readonly onPools: () => void;
  /** One sentence for each event that could not be played. */
  readonly onProblem: (problem: string) => void;
}

/** Starts; resolves when the last event is over. Ends early, without an error, when `signal` aborts. */
export async function playScript(options: ScriptOptions, signal: AbortSignal): Promise<void> {
  const { clock, events, onProblem } = options;
  const conditions: Conditions = {
    webhook: createOverlays(options.setWebhookTrouble),
    metricsDown: createOverlays((isDown) => options.setMetricsUp(isDown === undefined)),
    metricsLie: createOverlays(options.setMetricsLie),
    unrest: createUnrest(clock),
  };
  const startedAt = clock.now();
  await Promise.all(
    events.map(async (event) => {
      try {
        await sleep(clock, event.at, signal);
        await play(event, options, conditions, signal);
      } catch (error) {
        if (signal.aborted || conditions.unrest.hasBeenSince(startedAt + event.at)) return;
        onProblem(`event ${event.do}: ${describeError(error)}`);
      }
    }),
  );
}

/** Events of one kind may overlap: the end of one is not that of another. */
interface Conditions {
  readonly webhook: Overlays<WebhookTrouble>;
  readonly metricsDown: Overlays<true>;
  readonly metricsLie: Overlays<MetricsLie>;
  readonly unrest: Unrest;
}

async function play(
  event: ScenarioEvent,
  options: ScriptOptions,
  conditions: Conditions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, fleet, market, onPools } = options;
  const lastFor = async <T>(overlays: Overlays<T>, value: T, millis: Millis): Promise<void> => {
    const end = overlays.begin(value);
    await sleep(clock, millis, signal);
    end();
  };
  const people = { api: cluster.api, caches: cluster.caches, clock, signal };
  const upheavals = { ...options.upheavals, cluster, clock, signal };
  const matching = (pattern: string): SimulatedPool[] => {
    const found = options.pools.filter(({ name }) => matchesGlob(pattern, name));
    if (found.length === 0) throw new Error(`no pool is called ${pattern}`);
    return found;
  };
  const workloadOf = (key: string): WorkloadFacts => {
    const facts = fleet.workload(key);
    if (facts === undefined) throw new Error(`there is no workload ${key}`);
    return facts;
  };
  const patchObject = async (type: ResourceType, key: string, body: object): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    await cluster.api.patch(type, name, { type: 'merge', body }, { namespace });
  };
  const typeOf = (kind: string): ResourceType => {
    const type = Object.values<ResourceType>(resources).find((each) => each.kind === kind);
    if (type === undefined) throw new Error(`the kind ${kind} is not known here`);
    return type;
  };
  /** So many live pods of a workload, any of them. */
  const somePods = (key: string, count: number): Pod[] => {
    const live = [...workloadOf(key).pods].flatMap(([uid, { isLive }]) => (isLive ? [uid] : []));
    const drawn = new Set(draw(live, count, options.random));
    return [...cluster.caches.of(resources.pods).all()].filter((pod) => drawn.has(pod.metadata?.uid ?? ''));
  };
  const someNodes = (pattern: string, count: number): string[] =>
    draw(
      matching(pattern).flatMap(({ name }) => cluster.autoscaler.nodesOf(name)),
      count,
      options.random,
    );
  const patchWorkload = (key: string, body: object): Promise<void> =>
    patchObject(workloadType(workloadOf(key).kind), key, body);

  switch (event.do) {
    case 'close-pools': {
      const end = market.close(matching(event.pools), event.zone);
      onPools();
      if (event.for === undefined) return;
      await sleep(clock, event.for, signal);
      end();
      onPools();
      return;
    }
    case 'open-pools':
      market.open(matching(event.pools), event.zone);
      onPools();
      return;
    case 'storm':
      for (const { name } of matching(event.pools).filter((pool) => pool.class === 'spot'))
        cluster.autoscaler.storm({ pool: name, share: event.share, withinMillis: event.within });
      return;
    case 'lose-nodes': {
      for (const node of someNodes(event.pools, event.count)) {
        options.onNodeLost(node);
        cluster.autoscaler.loseNode(node);
      }
      return;
    }
    case 'webhook-down':
      if (event.for === undefined) conditions.webhook.begin({ share: event.share, loses: event.loses });
      else await lastFor(conditions.webhook, { share: event.share, loses: event.loses }, event.for);
      return;
    case 'webhook-up':
      conditions.webhook.endAll();
      return;
    case 'drain-nodes': {
      const drained = someNodes(event.pools, event.count);
      for (const node of drained) options.onNodeDrained(node);
      await Promise.all(drained.map((node) => drainNode(node, event.for, people)));
      return;
    }
    case 'delete-pods':
      for (const pod of somePods(event.workload, event.count)) await deletePod(pod, cluster.api);
      return;
    case 'hold-pods':
      await Promise.all(somePods(event.workload, event.count).map((pod) => holdPod(pod, event.for, people)));
      return;
    case 'silence-nodes': {
      const silent = someNodes(event.pools, event.count);
      for (const node of silent) {
        options.onNodeDrained(node);
        cluster.kubelet.loseNode(node);
      }
      await sleep(clock, event.for, signal);
      const nodes = cluster.caches.of(resources.nodes);
      for (const node of silent) if (nodes.get(node) !== undefined) await cluster.kubelet.recoverNode(node);
      return;
    }
    case 'apply': {
      const [problem] = (await cluster.apply([event.object])).problems;
      if (problem !== undefined) throw new Error(problem);
      return;
    }
    case 'delete': {
      const [namespace = '', name = ''] = event.object.split('/');
      await unlessGone(cluster.api.delete(typeOf(event.kind), name, { namespace }));
      return;
    }
    case 'recreate': {
      const [namespace = '', name = ''] = event.workload.split('/');
      await recreate(workloadType(workloadOf(event.workload).kind), { namespace, name }, people);
      return;
    }
    case 'patch':
      await patchObject(typeOf(event.kind), event.object, event.body);
      return;
    case 'reload-config':
      options.reloadConfig(event.operator, event.reaches);
      return;
    case 'rollout': {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date(clock.now()).toISOString() };
      await patchWorkload(event.workload, { spec: { template: { metadata: { annotations } } } });
      return;
    }
    case 'scale':
      await patchWorkload(event.workload, { spec: { replicas: event.replicas } });
      return;
    case 'annotate': {
      const body = { metadata: { annotations: event.annotations } };
      if (event.target.includes('/')) await patchWorkload(event.target, body);
      else await cluster.api.patch(resources.namespaces, event.target, { type: 'merge', body });
      return;
    }
    case 'restart-operator':
      await options.replaceOperator('stop', event.after);
      return;
    case 'crash-operator':
      await options.replaceOperator('crash', event.after);
      return;
    case 'isolate-operator':
      await options.isolateOperator(event.for);
      return;
    case 'set-clock':
      options.setClock(event.direction === 'forwards' ? event.by : -event.by, event.of);
      return;
    case 'crash-at-write':
      await options.replaceAtWrite(event.resource, event.moment, event.after);
      return;
    case 'recreate-namespace':
      await conditions.unrest.during(() => recreateNamespace(event.namespace, upheavals));
      return;
    case 'remove-definitions':
      await conditions.unrest.during(() => removeDefinitions(event.for, upheavals));
      return;
    case 'meddle': {
      const end = await beginMeddling(cluster, event.how);
      await sleep(clock, event.for, signal);
      await end();
      return;
    }
    case 'delete-policy': {
      const [namespace = '', name = ''] = event.policy.split('/');
      // Somebody may have deleted it before.
      await unlessGone(cluster.api.delete(policyType('optipod.io'), name, { namespace }));
      options.removePolicy(event.policy);
      return;
    }
    case 'metrics-wrong':
      await lastFor(conditions.metricsLie, event.tells, event.for);
      return;
    case 'change-policy': {
      const [namespace = '', name = ''] = event.policy.split('/');
      const body = { spec: event.spec };
      const isThere = await unlessGone(
        cluster.api.patch(policyType('optipod.io'), name, { type: 'merge', body }, { namespace }),
      );
      if (isThere) options.changePolicy(event.policy, event.spec);
      return;
    }
    case 'metrics-down':
      await lastFor(conditions.metricsDown, true, event.for);
      return;
    case 'kill-agents':
      await options.replaceAgents(event.count, event.after);
      return;
    case 'api-fault': {
      const active = cluster.server.faults.add(faultOf(event, options.users[event.of]));
      await sleep(clock, event.for, signal);
      active.remove();
    }
  }
}

/** @returns whether what it is about was there. */
async function unlessGone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}
