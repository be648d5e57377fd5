/** The allocation engine's controllers, put together. */

import { createWriteAllocationStatus } from '../../act/allocation-status.ts';
import { createEvents } from '../../act/events.ts';
import { createResize } from '../../act/resize.ts';
import { createForgetOriginals } from '../../act/restore.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import type { InFlightEviction, Leadership } from '../../guard/context.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { createSizeLog } from '../../guard/size/size-history.ts';
import type { Millicores } from '../../lib/units.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { createReadQuotas } from '../../observe/allocation-quotas.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { LiveSizingView } from '../../observe/sizing/live-sizing-view.ts';
import type { EngineParts } from '../engine-parts.ts';
import { createResizesInFlight, type ResizesInFlight } from '../resizes-in-flight.ts';
import { createAllocationActuator } from './actuator.ts';
import { type AllocationAgents, createAllocationAgents } from './agents.ts';
import { type AllocationController, createAllocationController } from './controller.ts';
import { type AllocationExplainer, createAllocationExplainer } from './explain.ts';
import { createAllocationFacts } from './facts.ts';
import { createIsAllocated } from './is-allocated.ts';
import { createAllocationMemory } from './memory.ts';
import { reportAllocation } from './metrics.ts';
import { createAllocationPass } from './pass.ts';
import { createQuietPods } from './quiet-pods.ts';
import { createQuotaReadings } from './quota-readings.ts';
import { createAllocationReports } from './reports.ts';
import type { AllocationSettings } from './settings.ts';

export interface AllocationEngineOptions extends EngineParts {
  readonly api: KubeApi;
  readonly view: LiveSizingView;
  readonly stores: AllocationStores;
  readonly settings: () => AllocationSettings;
  readonly leadership: () => Leadership;
  readonly servesResize: () => boolean | undefined;
  /** Of placement: a pod that is being evicted is not resized. */
  readonly evictions: () => readonly InFlightEviction[];
  /** Of rightsizing, under way. */
  readonly otherResizes: () => readonly InFlightResize[];
  /** What rightsizing advises the pod to request in all: its claim. */
  readonly adviceOf: (pod: SizedPod) => Millicores | undefined;
  readonly workers: number;
}

/** Who follows and who leads have the same; only the leader calls `run`. */
export interface AllocationEngine {
  readonly controller: AllocationController;
  readonly agents: AllocationAgents;
  /** For placement and rightsizing: a pod that is being resized is let be. */
  readonly resizes: ResizesInFlight;
  readonly explain: AllocationExplainer;
  /** Its CPU is shared out by this engine, so nobody else writes it. */
  readonly isAllocated: (pod: SizedPod) => boolean;
  /** The leader's work until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAllocationEngine(options: AllocationEngineOptions): AllocationEngine {
  const { api, view, stores, settings, clock, metrics, leadership } = options;
  const log = options.log.child('allocation');
  const history = createSizeLog(HISTORY);
  const memory = createAllocationMemory();
  const events = createEvents(options.events, clock, 'Allocate');
  const agents = createAllocationAgents({
    clock,
    isFresh: () => stores.isFresh() && view.freshness().stale.length === 0,
    staleMillis: () => settings().staleMillis,
  });
  const inFlight = createResizesInFlight({ view, clock, deadlines: () => DEADLINES, engine: 'allocation' });
  const resizes = (): readonly InFlightResize[] => [...inFlight.list(), ...options.otherResizes()];
  const lastWriteAt = history.lastChange;
  const shared = { ...options, log, history, memory, events, agents, inFlight, resizes, lastWriteAt };
  const facts = createAllocationFacts({
    ...shared,
    infeasible: (podUid, nodeName) => history.infeasible(podUid, nodeName)?.changes,
    failed: history.failed,
  });
  const actuator = createAllocationActuator({
    ...shared,
    resize: createResize({ api, pod: (namespace, name) => view.pod(namespace, name) }),
    onEnd: (node) => controller.wakeNode(node),
  });
  const quiet = createQuietPods({ ...shared, isResizing: inFlight.isResizing });
  const quotaReadings = createQuotaReadings({ read: createReadQuotas(api), underWay: facts.growthUnderWay, clock });
  const pass = createAllocationPass({
    ...shared,
    facts,
    actuator,
    quiet,
    isResizing: inFlight.isResizing,
    forgetOriginals: createForgetOriginals(api),
    quotaReadings,
  });
  const reports = createAllocationReports({ ...shared, facts, quiet, writeStatus: createWriteAllocationStatus(api) });
  const controller: AllocationController = createAllocationController({
    ...shared,
    pass,
    reports,
    actuator,
    onPodGone(podUid) {
      for (const each of [history, memory, events, pass]) each.forget(podUid);
    },
  });
  reportAllocation({ metrics, view, stores, agents, isLeader: () => leadership().leader });

  /** What a predecessor learned is in the statuses it wrote: a pod that restarted on a resize is not tried again. */
  const recall = (): void => {
    for (const { podUID, status } of stores.all()) {
      if (podUID === undefined) continue;
      if (status.guidance?.restartedOnResize === true) memory.noteRestart(podUID);
      if (status.guidance?.hasStaticCpuManager === true) memory.notePinned(podUID);
    }
  };

  return {
    controller,
    agents,
    resizes: inFlight,
    explain: createAllocationExplainer(view, stores, agents),
    isAllocated: createIsAllocated({ stores, agents, facts, settings }),
    async run(signal) {
      recall();
      inFlight.adopt();
      await controller.run(signal);
    },
  };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/**
 * A pod that refuses is asked again after ten seconds, then less and less often; after five in a row it is left alone
 * for half an hour.
 */
const HISTORY = {
  backoff: { initial: 10 * SECOND, max: 10 * MINUTE },
  giveUpAfter: 5,
  giveUpMillis: 30 * MINUTE,
} as const;
/**
 * Shares are about now: what is not granted within seconds is taken back, as it is charged meanwhile
 * (kubernetes#135107).
 */
const DEADLINES = { deferredMillis: 15 * SECOND, errorMillis: MINUTE, silenceMillis: MINUTE } as const;
