/** The rightsizing engine's controllers, put together. */

import { createEvents } from '../../act/events.ts';
import { createWritePolicyStatus } from '../../act/policy-status.ts';
import { createResize } from '../../act/resize.ts';
import { createHandBackTemplate } from '../../act/restore.ts';
import { createRetemplate } from '../../act/retemplate.ts';
import { createAnnotateWorkload } from '../../act/workload-annotations.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { policyWarnings } from '../../decide/rightsizing/policy-warnings.ts';
import { createSizeLog } from '../../guard/size/size-history.ts';
import { runningOf } from '../../model/predecessors.ts';
import type { EngineParts } from '../engine-parts.ts';
import { createResizesInFlight, type ResizesInFlight } from '../resizes-in-flight.ts';
import { createSizeActuator } from './actuator.ts';
import { createApplyAdvice } from './apply-advice.ts';
import { inLine } from './budget-turn.ts';
import { createByEviction } from './by-eviction.ts';
import { createChanges } from './change.ts';
import { createRightsizingController, type RightsizingController } from './controller.ts';
import { createSizingExplainer, type SizingExplainer } from './explain.ts';
import { createHandBack } from './hand-back.ts';
import { createInPlace } from './in-place.ts';
import { createInPlaceProblem } from './in-place-problem.ts';
import { createMakeRoom } from './make-room.ts';
import { createRightsizingMemory } from './memory.ts';
import { reportRightsizing } from './metrics.ts';
import type { RightsizingParts } from './parts.ts';
import { createPodReplacement } from './pod-replacement.ts';
import { createPolicyBooks, type PolicyBooks } from './policies.ts';
import { createRecreate } from './recreate.ts';
import { createSizeReplicas } from './replicas.ts';
import { createRestartGate } from './restart-gate.ts';
import { isDryRun } from './settings.ts';
import { createLookForThrottling } from './throttling.ts';
import { createWorkloadReconciler } from './workload.ts';

export interface RightsizingEngineOptions
  extends EngineParts,
    Omit<RightsizingParts, keyof EngineParts | 'memory' | 'books' | 'handBack' | 'annotate'> {
  readonly api: KubeApi;
}

export interface RightsizingEngine {
  readonly controller: RightsizingController;
  readonly books: PolicyBooks;
  readonly explain: SizingExplainer;
  /** For placement: a pod that is being resized is not evicted. */
  readonly resizes: ResizesInFlight;
  /** The leader's work until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createRightsizingEngine(options: RightsizingEngineOptions): RightsizingEngine {
  const { api, view, settings, policies, clock, metrics, leadership, disruptions } = options;
  const { turns } = disruptions;
  const log = options.log.child('rightsizing');
  const memory = createRightsizingMemory((uid, key) => {
    disruptions.history.forgetWorkload(uid, clock.now());
    turns.leave('rightsizing', key);
  });
  const annotate = createAnnotateWorkload(api);
  const books = createPolicyBooks({
    isThere: (uid) => options.policies.policies().some((policy) => policy.uid === uid),
    writeStatus: createWritePolicyStatus(api),
    dryRun: () => isDryRun(settings()),
    warningsOf: (policy) => policyWarnings(policy, settings().tenancy),
    healthOf: options.usage.healthOf,
    clock,
    log,
  });
  const shared = {
    ...options,
    log,
    memory,
    annotate,
    books,
    events: createEvents(options.events, clock, 'Rightsize'),
    turns,
    handBack: createHandBack({
      annotate,
      template: createHandBackTemplate(api),
      isReadOnly: () => isDryRun(settings()),
      isOptipodRunning: () => runningOf(view, 'OptiPod') !== undefined,
      memory,
      turns,
      log,
    }),
  };
  const history = createSizeLog(HISTORY);
  const inFlight = createResizesInFlight({
    view,
    clock,
    engine: 'rightsizing',
    deadlines: () => ({ ...DEADLINES, deferredMillis: settings().deferredMillis }),
  });
  const actuator = createSizeActuator({
    ...shared,
    history,
    inFlight,
    resize: createResize({ api, pod: (namespace, name) => view.pod(namespace, name) }),
    retemplate: createRetemplate({ api, workload: (uid) => view.workloadByUid(uid) }),
    onEnd: (workload) => controller.wakeWorkload(workload),
  });
  const changes = createChanges({ ...shared, lookForThrottling: createLookForThrottling(shared) });
  const replacement = createPodReplacement({ ...shared, actuator, history });
  const makeRoom = createMakeRoom({ ...shared, actuator, replacement });
  const sizeReplicas = createSizeReplicas({ ...shared, actuator, changes });
  const restartGate = createRestartGate(shared);
  const methods = {
    InPlace: createInPlace({ ...shared, actuator, sizeReplicas, makeRoom, restartGate, changes }),
    Recreate: createRecreate({ ...shared, actuator, restartGate, changes, history }),
    Evict: createByEviction({ ...shared, replacement, restartGate, changes }),
  };
  const inPlaceProblem = createInPlaceProblem({ ...shared, actuator });
  const applyAdvice = createApplyAdvice({ ...shared, inPlaceProblem, methods });
  const reconciler = inLine(turns, createWorkloadReconciler({ ...shared, applyAdvice, resizes: inFlight.list }));
  const controller = createRightsizingController({ ...shared, reconciler });
  metrics.onRender(() => reportRightsizing(metrics, leadership().leader ? policies.policies() : [], books));
  return {
    controller,
    books,
    explain: createSizingExplainer({ view, select: controller.select, books, memory }),
    resizes: inFlight,
    async run(signal) {
      const end = turns.onTurn('rightsizing', controller.wakeForTurn);
      await Promise.all([controller.run(signal), actuator.run(signal)]).finally(end);
    },
  };
}

const MINUTE = 60_000;
/**
 * A pod or workload that refuses is asked again after a minute, then less and less often; after three changes in a row
 * that came to nothing it is left alone for an hour (rightsizing bug 9).
 */
const HISTORY = {
  backoff: { initial: MINUTE, max: 60 * MINUTE },
  giveUpAfter: 3,
  giveUpMillis: 60 * MINUTE,
} as const;
/** The kubelet retries an Error by itself, at each sync of the pod. */
const DEADLINES = { errorMillis: 5 * MINUTE, silenceMillis: 3 * MINUTE } as const;
