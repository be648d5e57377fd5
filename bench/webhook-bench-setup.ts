/** The admission handler on a benchmark world, and the reviews sent to it. */
import type { KubeApi } from '../src/api/kube-api.ts';
import { KubeError } from '../src/api/kube-error.ts';
import { type ClaimLedger, createClaimLedger } from '../src/decide/placement/claims.ts';
import { createPolicyReader } from '../src/decide/placement/policy.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createSides } from '../src/model/sides.ts';
import { createProjections } from '../src/observe/project.ts';
import { createPodInterners } from '../src/observe/project-pod.ts';
import { testSettings } from '../src/observe/testing/placement-settings.ts';
import { createCatchUp } from '../src/webhook/catch-up.ts';
import { createMutateHandler, type MutateHandler } from '../src/webhook/handler.ts';
import { createLiveOwners } from '../src/webhook/live-owners.ts';
import { createBenchWorld, newPodObject } from './bench-world.ts';

/** Answers are kept per request uid, so a benchmark must not repeat them. */
export function reviewBody(uid: string, workload: number): string {
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:kube-system:replicaset-controller',
        groups: ['system:authenticated'],
      },
      object: newPodObject(workload),
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  });
}

export interface WebhookBench {
  readonly handle: MutateHandler;
  readonly ledger: ClaimLedger;
  readonly workloads: number;
  readonly stores: ReturnType<typeof createBenchWorld>['stores'];
}

export function createWebhookBench(pods: number): WebhookBench {
  const { view, workloads, stores } = createBenchWorld({
    pods,
    podsPerWorkload: 50,
    nodes: 100,
    // Room for what is asked for at one time: beyond its replicas a workload looks as if the caches lagged.
    missingPods: 100,
  });
  const clock = createSystemClock();
  const log = createSilentLogger();
  const settings = testSettings();
  const rules = { settings, sides: createSides(settings.nodeClasses), readPolicy: createPolicyReader(settings) };
  const ledger = createClaimLedger({ ttlMillis: settings.claimTtlMillis });
  const neverThere = { get: () => Promise.reject(new KubeError(404, undefined, 'not found')) };
  const projections = createProjections(() => {});
  const owners = createLiveOwners({
    view,
    api: neverThere as unknown as KubeApi,
    projections,
    clock,
    log,
    budgetMillis: 150,
  });
  const interners = createPodInterners(1000);
  const catchUp = createCatchUp(view, clock);
  const onAnswer = (): void => {};
  const handle = createMutateHandler({ owners, rules: () => rules, ledger, catchUp, interners, clock, log, onAnswer });
  return { handle, ledger, workloads, stores };
}
