/** The keys of the control loops and of telling nodes apart. */
import { duration, flag, integer, names, optionalChoices, optionalFlag } from './config-key.ts';
import { namespaceName } from './key-formats.ts';
import { optionalSelector, selectors } from './selector-keys.ts';

/** The clouds whose labels are known; see src/model/node-profiles.ts. */
const profiles = ['karpenter', 'eks', 'gke', 'aks', 'castai'] as const;

const SECOND = 1000;

/**
 * Names are Spotalis's where it has the key. So are defaults, but for `reconcileInterval` and
 * `maxConcurrentReconciles`, which its design (mission/000) wants at 30 s and 5.
 */
export const controllersKeys = {
  maxConcurrentReconciles: integer(5, {
    env: 'CONTROLLERS_MAX_CONCURRENT_RECONCILES',
    restart: true,
    min: 1,
    max: 100,
    description: 'Workloads that are worked on at the same time.',
  }),
  reconcileInterval: duration('30s', {
    env: 'CONTROLLERS_RECONCILE_INTERVAL',
    min: 5 * SECOND,
    description: 'How often a workload is looked at when nothing happens; what happens is looked at once.',
  }),
  namespaceSelector: optionalSelector({
    restart: true,
    description: 'Only namespaces this selects are managed, besides needing the label spotalis.io/enabled.',
  }),
  watchNamespaces: names({
    env: 'CONTROLLERS_WATCH_NAMESPACES',
    restart: true,
    accepted: 'a list of namespaces',
    format: namespaceName,
    description:
      'Read only these namespaces, with Roles instead of a ClusterRole (deploy/rbac-namespaced.yaml); being listed enables a namespace. Empty watches the cluster.',
  }),
  rateLimit: {
    qps: integer(50, {
      env: 'CONTROLLERS_RATE_LIMIT_QPS',
      restart: true,
      min: 1,
      max: 10_000,
      description: 'Requests a second to the API server.',
    }),
    burst: integer(100, {
      env: 'CONTROLLERS_RATE_LIMIT_BURST',
      restart: true,
      min: 1,
      max: 10_000,
      description: 'Requests to the API server that may follow at once after a pause.',
    }),
  },
  nodeClassifier: {
    profiles: optionalChoices(profiles, {
      env: 'CONTROLLERS_NODE_CLASSIFIER_PROFILES',
      restart: true,
      description:
        'Clouds and autoscalers whose labels tell spot from on-demand, one or several. When left out: karpenter, or none where spotLabels or onDemandLabels are given.',
    }),
    spotLabels: selectors({
      restart: true,
      description: 'Nodes that are spot, besides those of the profiles. Checked before onDemandLabels.',
    }),
    onDemandLabels: selectors({
      restart: true,
      description: 'Nodes that are on-demand, besides those of the profiles.',
    }),
    absenceMeansOnDemand: optionalFlag({
      env: 'CONTROLLERS_NODE_CLASSIFIER_ABSENCE_MEANS_ON_DEMAND',
      restart: true,
      description: 'Nodes that match nothing are on-demand. When left out, as the profiles say.',
    }),
    autoscaled: optionalChoices(['spot', 'on-demand'], {
      env: 'CONTROLLERS_NODE_CLASSIFIER_AUTOSCALED',
      restart: true,
      description:
        'Sides of which an autoscaler makes nodes when pods wait for them: a move there needs no node that has room. When left out: both with the profile karpenter, else none.',
    }),
    includeReserved: flag(false, {
      env: 'CONTROLLERS_NODE_CLASSIFIER_INCLUDE_RESERVED',
      restart: true,
      description:
        "Let pods of the on-demand side run on Karpenter's reserved nodes too; they are then steered by affinity.",
    }),
  },
  workloadTiming: {
    cooldownPeriod: duration('10s', {
      env: 'CONTROLLERS_WORKLOAD_COOLDOWN_PERIOD',
      description: 'Pause between two disruptions of one workload.',
    }),
    disruptionRetryInterval: duration('1m', {
      env: 'CONTROLLERS_WORKLOAD_DISRUPTION_RETRY_INTERVAL',
      description: 'Pause before a workload with an invalid setting is looked at again when nothing changes.',
    }),
    disruptionWindowPollInterval: duration('10m', {
      env: 'CONTROLLERS_WORKLOAD_DISRUPTION_WINDOW_POLL_INTERVAL',
      description: 'Longest pause outside a disruption window; the opening itself is never missed.',
    }),
  },
} as const;
