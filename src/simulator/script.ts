/** Plays the events of a scenario at their times, each through the API or the machinery that such a thing happens in. */
import { policyType } from '../api/optimization-policy.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Fault } from '../cluster/faults/fault.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import { type SimulatedPool, workloadType } from './objects.ts';
import { deletePod, drainNode, recreate } from './people.ts';
import type { ScenarioEvent } from './scenario/events.ts';
import type { WebhookTrouble } from './world.ts';

/** What events act upon. Nothing of it reaches into the operator but its configuration and its replicas' lives. */
export interface ScriptOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly pools: readonly SimulatedPool[];
  readonly fleet: FleetWatch;
  readonly events: readonly ScenarioEvent[];
  /** Whose calls `api-fault` disturbs. */
  readonly users: { readonly operator: string; readonly agents: string };
  /** A policy's spec was patched. */
  readonly changePolicy: (key: string, spec: Readonly<Record<string, unknown>>) => void;
  readonly setMetricsUp: (isUp: boolean) => void;
  readonly replaceAgents: (count: number, afterMillis: Millis) => Promise<void>;
  /** Undefined ends it. */
  readonly setWebhookTrouble: (trouble: WebhookTrouble | undefined) => void;
  readonly replaceOperator: (how: 'stop' | 'crash', afterMillis: Millis) => Promise<void>;
  /** A changed configuration of the operator, as a part of its file. */
  readonly reloadConfig: (change: Readonly<Record<string, unknown>>, reaches: 'all' | 'oldest') => void;
  readonly onNodeLost: (node: string) => void;
  readonly onNodeDrained: (node: string) => void;
  readonly onPools: (pools: readonly SimulatedPool[], isOpen: boolean, zone: string | undefined) => void;
  /** One sentence for each event that could not be played. */
  readonly onProblem: (problem: string) => void;
}

/** Starts; resolves when the last event is over. Ends early, without an error, when `signal` aborts. */
export async function playScript(options: ScriptOptions, signal: AbortSignal): Promise<void> {
  const { clock, events, onProblem } = options;
  await Promise.all(
    events.map(async (event) => {
      try {
        await sleep(clock, event.at, signal);
        await play(event, options, signal);
      } catch (error) {
        if (!signal.aborted) onProblem(`event ${event.do}: ${describeError(error)}`);
      }
    }),
  );
}

async function play(event: ScenarioEvent, options: ScriptOptions, signal: AbortSignal): Promise<void> {
  const { cluster, clock, fleet, setWebhookTrouble } = options;
  const people = { api: cluster.api, caches: cluster.caches, clock, signal };
  const matching = (pattern: string): SimulatedPool[] => {
    const found = options.pools.filter(({ name }) => matchesGlob(pattern, name));
    if (found.length === 0) throw new Error(`no pool is called ${pattern}`);
    return found;
  };
  const setPools = (pattern: string, isOpen: boolean, zone: string | undefined): void => {
    const found = matching(pattern);
    for (const { name } of found) cluster.autoscaler.setPoolAvailability(name, isOpen, zone);
    options.onPools(found, isOpen, zone);
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
  const patchWorkload = (key: string, body: object): Promise<void> =>
    patchObject(workloadType(workloadOf(key).kind), key, body);

  switch (event.do) {
    case 'close-pools':
      setPools(event.pools, false, event.zone);
      if (event.for === undefined) return;
      await sleep(clock, event.for, signal);
      setPools(event.pools, true, event.zone);
      return;
    case 'open-pools':
      setPools(event.pools, true, event.zone);
      return;
    case 'storm':
      for (const { name } of matching(event.pools).filter((pool) => pool.class === 'spot'))
        cluster.autoscaler.storm({ pool: name, share: event.share, withinMillis: event.within });
      return;
    case 'lose-nodes': {
      const nodes = matching(event.pools).flatMap(({ name }) => cluster.autoscaler.nodesOf(name));
      for (const node of draw(nodes, event.count, options.random)) {
        options.onNodeLost(node);
        cluster.autoscaler.loseNode(node);
      }
      return;
    }
    case 'webhook-down':
      setWebhookTrouble({ share: event.share, loses: event.loses });
      if (event.for === undefined) return;
      await sleep(clock, event.for, signal);
      setWebhookTrouble(undefined);
      return;
    case 'webhook-up':
      setWebhookTrouble(undefined);
      return;
    case 'drain-nodes': {
      const nodes = matching(event.pools).flatMap(({ name }) => cluster.autoscaler.nodesOf(name));
      const drained = draw(nodes, event.count, options.random);
      for (const node of drained) options.onNodeDrained(node);
      await Promise.all(drained.map((node) => drainNode(node, event.for, people)));
      return;
    }
    case 'delete-pods': {
      const { pods } = workloadOf(event.workload);
      const live = [...pods].flatMap(([uid, { isLive }]) => (isLive ? [uid] : []));
      const doomed = new Set(draw(live, event.count, options.random));
      for (const pod of [...cluster.caches.of(resources.pods).all()])
        if (doomed.has(pod.metadata?.uid ?? '')) await deletePod(pod, cluster.api);
      return;
    }
    case 'recreate': {
      const [namespace = '', name = ''] = event.workload.split('/');
      await recreate(workloadType(workloadOf(event.workload).kind), { namespace, name }, people);
      return;
    }
    case 'patch': {
      const type = Object.values<ResourceType>(resources).find(({ kind }) => kind === event.kind);
      if (type === undefined) throw new Error(`the kind ${event.kind} is not known here`);
      await patchObject(type, event.object, event.body);
      return;
    }
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
    case 'change-policy': {
      const [namespace = '', name = ''] = event.policy.split('/');
      const body = { spec: event.spec };
      await cluster.api.patch(policyType('optipod.io'), name, { type: 'merge', body }, { namespace });
      options.changePolicy(event.policy, event.spec);
      return;
    }
    case 'metrics-down':
      options.setMetricsUp(false);
      await sleep(clock, event.for, signal);
      options.setMetricsUp(true);
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

function faultOf(event: Extract<ScenarioEvent, { do: 'api-fault' }>, user: string): Fault {
  const { verbs, resources: plurals, probability, effect } = event;
  const { kind } = effect;
  return {
    users: [user],
    ...(verbs === undefined ? {} : { verbs }),
    ...(plurals === undefined ? {} : { resources: plurals }),
    ...(probability === undefined ? {} : { probability }),
    effect:
      kind !== 'status'
        ? effect
        : {
            kind,
            code: effect.code,
            ...(effect.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: effect.retryAfterSeconds }),
          },
  };
}

/** `*` stands for any text; nothing else is special. */
function matchesGlob(pattern: string, text: string): boolean {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`).test(text);
}

function draw<T>(from: readonly T[], count: number, random: Random): T[] {
  const left = [...from];
  const drawn: T[] = [];
  while (drawn.length < count && left.length > 0)
    drawn.push(...left.splice(Math.floor(random.next() * left.length), 1));
  return drawn;
}
