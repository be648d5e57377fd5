/** Events of the operator and what it depends on: its replicas and their agents, configuration, clock, webhook, metrics, API calls and other writers. */
import type { FaultEffect } from '../../cluster/faults/fault.ts';
import type { Millis } from '../../lib/units.ts';
import { faultOf } from '../fault-of-event.ts';
import { beginMeddling } from '../meddlers.ts';
import { beRival } from '../rivals.ts';
import type { EventPlayers } from './event-players.ts';
import type { Scene } from './scene.ts';

type OperatorEvents = EventPlayers<
  | 'api-fault'
  | 'crash-at-write'
  | 'crash-operator'
  | 'isolate-operator'
  | 'kill-agents'
  | 'meddle'
  | 'metrics-down'
  | 'metrics-wrong'
  | 'reload-config'
  | 'restart-api'
  | 'restart-operator'
  | 'rival'
  | 'set-clock'
  | 'watch-storm'
  | 'webhook-down'
  | 'webhook-up'
>;

export const operatorEvents: OperatorEvents = {
  'restart-operator': (event, { replaceOperator }) => replaceOperator('stop', event.after),
  'crash-operator': (event, { replaceOperator }) => replaceOperator('crash', event.after),
  'isolate-operator': (event, { isolateOperator }) => isolateOperator(event.for),
  async 'crash-at-write'(event, { replaceAtWrite }) {
    await replaceAtWrite(event.resource, event.moment, event.after);
  },
  'kill-agents': (event, { replaceAgents }) => replaceAgents(event.count, event.after),
  'reload-config'(event, { reloadConfig }) {
    reloadConfig(event.operator, event.reaches);
  },
  'set-clock'(event, { setClock }) {
    setClock(event.direction === 'forwards' ? event.by : -event.by, event.of);
  },
  async 'webhook-down'(event, { conditions, lastFor }) {
    const trouble = { share: event.share, loses: event.loses };
    if (event.for === undefined) conditions.webhook.begin(trouble);
    else await lastFor(conditions.webhook, trouble, event.for);
  },
  'webhook-up'(_, { conditions }) {
    conditions.webhook.endAll();
  },
  'metrics-down': (event, { conditions, lastFor }) => lastFor(conditions.metricsDown, true, event.for),
  'metrics-wrong': (event, { conditions, lastFor }) => lastFor(conditions.metricsLie, event.tells, event.for),
  async meddle(event, { cluster, pause }) {
    const end = await beginMeddling(cluster, event.how);
    await pause(event.for);
    await end();
  },
  rival: (event, { cluster, clock, signal, upheavals: { objects } }) =>
    beRival(event.who, event.for, { cluster, clock, objects, signal }),
  async 'watch-storm'(event, scene) {
    await disturb(scene, { kind: 'outage' }, event.for, ['watch']);
    scene.cluster.server.core.compact();
  },
  async 'restart-api'(event, scene) {
    await disturb(scene, { kind: 'drop-after' }, LAST_WRITES_MILLIS);
    await disturb(scene, { kind: 'outage' }, event.for);
    scene.cluster.server.core.compact();
    await disturb(scene, { kind: 'status', code: 429, retryAfterSeconds: 1 }, event.for);
  },
  async 'api-fault'(event, { cluster, pause, users }) {
    const active = cluster.server.faults.add(faultOf(event, users[event.of]));
    await pause(event.for);
    active.remove();
  },
};

/** Writes that were under way when the API server was told to end. */
const LAST_WRITES_MILLIS = 2000;

/** A fault of the API for the operator and the agents. */
async function disturb(
  { cluster, pause, users }: Scene,
  effect: FaultEffect,
  forMillis: Millis,
  verbs?: readonly string[],
): Promise<void> {
  const who = [users.operator, users.agents];
  const fault = cluster.server.faults.add({ users: who, effect, ...(verbs !== undefined && { verbs }) });
  try {
    await pause(forMillis);
  } finally {
    fault.remove();
  }
}
