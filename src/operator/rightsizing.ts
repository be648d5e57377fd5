/** The rightsizing engine of one process, put together: what every replica knows, and what the leader does. */

import { isPaused } from '../api/annotations-rightsizing.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import { cpuAdviceOf } from '../controllers/allocation/advice.ts';
import type { Disruptions } from '../controllers/disruptions.ts';
import type { EngineParts } from '../controllers/engine-parts.ts';
import { createRightsizingEngine, type RightsizingEngine } from '../controllers/rightsizing/engine.ts';
import { isDryRun } from '../controllers/rightsizing/settings.ts';
import { usageTargets } from '../controllers/rightsizing/targets.ts';
import type { Leadership } from '../guard/context.ts';
import type { InFlightResize } from '../guard/size/context.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { Millicores, Millis } from '../lib/units.ts';
import { aborted } from '../lib/until-aborted.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { NamespaceScope } from '../observe/live-stores.ts';
import { createPolicyStores, type PolicyStores } from '../observe/policy-stores.ts';
import type { LiveSizingView } from '../observe/sizing/live-sizing-view.ts';
import type { UsageCollector } from '../observe/usage/collector-port.ts';
import type { BodyHandler } from '../webhook/server.ts';
import { createSizeNewPods, type SizeNewPods } from '../webhook/size-new-pods.ts';
import { oncePerConfig } from './once-per-config.ts';
import { policyAdmission } from './policy-admission.ts';
import { rightsizingSettingsOf } from './rightsizing-settings.ts';
import { createUsage, type UsageOptions } from './usage.ts';

export interface RightsizingOptions extends EngineParts, Pick<UsageOptions, 'sourceProxy'> {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly api: KubeApi;
  readonly scope: NamespaceScope | undefined;
  /** Run by whoever made it. */
  readonly view: LiveSizingView;
  readonly leadership: () => Leadership;
  /** What every engine that disrupts draws on. */
  readonly disruptions: Disruptions;
  /** Pods are admitted through this operator's webhook. */
  readonly sizesNewPods: () => boolean;
  /** `pods/resize` is served; undefined while it is not known. */
  readonly servesResize: () => boolean | undefined;
  /** Of allocation, under way. */
  readonly otherResizes: () => readonly InFlightResize[];
  /** Allocation shares out the CPU of the pod. */
  readonly isAllocated: (pod: SizedPod) => boolean;
}

/** `run` and `handlers` work in every replica; usage is collected and pods are resized by the leader only. */
export interface Rightsizing {
  readonly engine: RightsizingEngine;
  readonly policies: PolicyStores;
  /** What is remembered of usage. */
  readonly usage: Pick<UsageCollector, 'profileOf'>;
  /** What it answers at admission, by path. */
  readonly handlers: Readonly<Record<string, BodyHandler>>;
  /** What it adds to the answer for a new pod. */
  readonly sizeNewPods: SizeNewPods;
  /** What all its containers are advised to request; undefined where some have no advice. */
  cpuAdviceOf(pod: SizedPod): Millicores | undefined;
  /** Follows the cluster until `signal` aborts, whoever leads. */
  run(signal: AbortSignal): Promise<void>;
  /** The leader's work, until `signal` aborts. */
  lead(signal: AbortSignal): Promise<void>;
}

/**
 * Engine, policies and usage know each other: whose usage is collected is the engine's to say, and what it advises is
 * made of that.
 */
export function createRightsizing(options: RightsizingOptions): Rightsizing {
  const { api, scope, view, clock, random, leadership } = options;
  const config = options.config();
  const settings = oncePerConfig(options.config, rightsizingSettingsOf);
  const reading = { api, clock, random, log: options.log.child('informer'), scope };
  const { limits, allowedPolicyNamespaces: allowed } = config.rightsizing;
  const rulingNamespaces = allowed.includes('*') ? undefined : [config.operator.namespace, ...allowed];
  const policies = createPolicyStores({ ...reading, limits, rulingNamespaces });
  const usage = createUsage({
    ...options,
    config,
    targets: usageTargets({ view, policies, select: (workload) => engine.controller.select(workload) }),
    isLeader: () => leadership().leader,
  });
  const engine = createRightsizingEngine({
    ...options,
    policies,
    usage: usage.collector,
    settings,
    workers: config.controllers.maxConcurrentReconciles,
  });
  return {
    engine,
    policies,
    usage: usage.collector,
    handlers: policyAdmission({ policies, view, limits, tenancy: settings().tenancy, log: options.log }),
    sizeNewPods: createSizeNewPods({
      workloadOf: (namespace, owner) => view.workloadOf({ namespace, owner }),
      isActive(workload) {
        const { winner } = engine.controller.select(workload);
        return winner?.spec.mode === 'Auto' && !isPaused(workload.annotations) && !isDryRun(settings());
      },
      limitRanges: view.limitRanges,
      quotas: view.quotas,
      podsOf: view.podsOf,
      clock,
    }),
    cpuAdviceOf(pod) {
      const workload = view.workloadOf(pod.pod);
      const { winner } = workload === undefined ? {} : engine.controller.select(workload);
      if (workload === undefined || winner === undefined || winner.spec.mode === 'Disabled') return undefined;
      return cpuAdviceOf(pod, workload, engine.books.of(winner.uid).results.get(workloadKey(workload)));
    },
    run: policies.run,
    async lead(signal) {
      const known = new AbortController();
      const telling = tellWhileUnread(engine, clock, AbortSignal.any([signal, known.signal]));
      try {
        await Promise.race([Promise.all([view.onSynced, policies.onSynced]), aborted(signal)]);
      } finally {
        known.abort();
        await telling;
      }
      if (signal.aborted) return;
      await Promise.all([usage.lead(signal), engine.run(signal)]);
    },
  };
}

/** First lists of a large cluster take seconds. */
const TELL_MILLIS: Millis = 30_000;

/** Until `signal` aborts. Without it an operator that lacks one right would wait for ever, and policies say nothing. */
async function tellWhileUnread({ controller }: RightsizingEngine, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(clock, TELL_MILLIS, signal);
    if (!signal.aborted) await controller.tellUnread(signal).catch(() => {});
  }
}
