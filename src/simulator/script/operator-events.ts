/** Events of the operator and what it depends on: its replicas and their agents, configuration, clock, webhook, metrics and API calls. */
import { faultOf } from '../fault-of-event.ts';
import { beginMeddling } from '../meddlers.ts';
import type { EventPlayers } from './event-players.ts';

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
  | 'restart-operator'
  | 'set-clock'
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
  async 'api-fault'(event, { cluster, pause, users }) {
    const active = cluster.server.faults.add(faultOf(event, users[event.of]));
    await pause(event.for);
    active.remove();
  },
};
