/** Plays the events of a scenario at their times, each through the API or the machinery that such a thing happens in. */
import type { Cluster } from '../../cluster/cluster.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { Random } from '../../lib/random.ts';
import type { Millis } from '../../lib/units.ts';
import type { FleetWatch } from '../fleet-watch.ts';
import type { MetricsLie } from '../lying-metrics.ts';
import type { Market } from '../market.ts';
import type { SimulatedPool } from '../objects.ts';
import type { OperatorTeam } from '../operator-team.ts';
import { createOverlays } from '../overlays.ts';
import type { ScenarioEvent } from '../scenario/events.ts';
import { createUnrest } from '../unrest.ts';
import type { UpheavalOptions } from '../upheavals.ts';
import type { WebhookTrouble } from '../world.ts';
import { type EventPlayers, playEvent } from './event-players.ts';
import { nodeEvents } from './node-events.ts';
import { objectEvents } from './object-events.ts';
import { operatorEvents } from './operator-events.ts';
import { type Conditions, createScene } from './scene.ts';

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
  const scene = createScene(options, conditions, signal);
  const startedAt = clock.now();
  await Promise.all(
    events.map(async (event) => {
      try {
        await sleep(clock, event.at, signal);
        await playEvent(players, event, scene);
      } catch (error) {
        if (signal.aborted || conditions.unrest.hasBeenSince(startedAt + event.at)) return;
        onProblem(`event ${event.do}: ${describeError(error)}`);
      }
    }),
  );
}

const players: EventPlayers = { ...nodeEvents, ...objectEvents, ...operatorEvents };
