/** The placement engine's controllers, put together: what one process has of it, leader or not. */
import { createEvents } from '../../act/events.ts';
import { createRestamp } from '../../act/restamp.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import type { Millis } from '../../lib/units.ts';
import type { LiveView } from '../../observe/live-view.ts';
import type { Disruptions } from '../disruptions.ts';
import type { EngineParts } from '../engine-parts.ts';
import type { SpotWatch } from '../spot-watch.ts';
import { createPlacementController, type PlacementController } from './controller.ts';
import { createExplainer, type Explainer } from './explain.ts';
import { createMoveTracker } from './move-tracker.ts';
import { createPlanGauges } from './plan-gauges.ts';
import { createPlacementReconciler } from './reconciler.ts';
import type { PlacementRules } from './rules.ts';

export interface PlacementEngineOptions extends EngineParts {
  readonly api: KubeApi;
  readonly view: LiveView;
  readonly rules: () => PlacementRules;
  /** New pods are meant to pass this operator's webhook. */
  readonly steersNewPods: () => boolean;
  readonly spot: SpotWatch;
  /** What every engine that disrupts draws on. */
  readonly disruptions: Disruptions;
  readonly workers: number;
  readonly reconcileIntervalMillis: () => Millis;
  readonly windowPollMillis: () => Millis;
}

/** Followers have it too, for explaining; only the leader runs the controller. */
export interface PlacementEngine {
  readonly controller: PlacementController;
  readonly explain: Explainer;
}

export function createPlacementEngine(options: PlacementEngineOptions): PlacementEngine {
  const { api, spot, disruptions, metrics, clock } = options;
  const shared = {
    ...options,
    events: createEvents(options.events, clock, 'Place'),
    moves: createMoveTracker(disruptions.history, options.steersNewPods),
    restamp: createRestamp(api),
    gauges: createPlanGauges(metrics),
  };
  const reconciler = createPlacementReconciler(shared);
  metrics.onRender(() => {
    metrics.set('spotalis_storm_active', {}, spot.memory.storm(clock.now()) === undefined ? 0 : 1);
  });
  return {
    controller: createPlacementController({ ...shared, reconciler }),
    explain: createExplainer(shared),
  };
}
