/** The Kubernetes objects and node pools that a scenario describes. Pure. */

import { placementKeys } from '../api/annotations.ts';
import type { Deployment, KubeObject, PodDisruptionBudget, StatefulSet } from '../api/core.ts';
import { customResourceDefinition } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { NodePool } from '../cluster/autoscaler/node-pool.ts';
import { LOAD_ANNOTATIONS } from '../cluster/load/pod-load.ts';
import type { Config } from '../config/schema.ts';
import { StowageError } from '../lib/errors.ts';
import { formatQuantity, fromBytes, fromMillicores } from '../lib/quantity.ts';
import { treeAt } from './policy-book.ts';
import { instanceTypes } from './scenario/instance-types.ts';
import type { LoadCurve, Scenario, ScenarioPolicy, ScenarioPool, ScenarioWorkload } from './scenario/schema.ts';
import { interruptionRate } from './scenario/values.ts';

/** A pool with what simulations know about it beyond what a cluster does. */
export interface SimulatedPool extends NodePool {
  /** Price of the same machine on on-demand. */
  readonly onDemandPerHour: number;
  /** Expected interruptions of a node an hour. */
  readonly hazardPerHour: number;
}

/** @throws StowageError for a machine that is neither in the catalogue nor described. */
export function poolOf(pool: ScenarioPool): SimulatedPool {
  const known = instanceTypes.get(pool.type);
  const onDemandPerHour = known?.onDemandPerHour ?? pool.price;
  const cpuMillis = pool.cpu ?? known?.cpuMillis;
  const memoryBytes = pool.memory ?? known?.memoryBytes;
  if (onDemandPerHour === undefined || cpuMillis === undefined || memoryBytes === undefined) {
    const types = [...instanceTypes.keys()].join(', ');
    throw new StowageError(
      'UNKNOWN_INSTANCE_TYPE',
      `pool ${pool.name}: the type ${pool.type} is not in the catalogue (${types}); give cpu, memory and price`,
    );
  }
  const isSpot = pool.class === 'spot';
  // A price that is given is what a node costs; what it would cost on on-demand stays the catalogue's, where that knows
  // the type.
  const listPrice = isSpot && known !== undefined ? onDemandPerHour * (1 - known.spotSaving / 100) : onDemandPerHour;
  const hazardPerHour = pool.interruptions ?? (known === undefined ? 0 : interruptionRate.parse(known.interruptions));
  return {
    name: pool.name,
    class: pool.class,
    zones: pool.zones,
    instanceType: pool.type,
    cpuMillis,
    memoryBytes,
    pricePerHour: pool.price ?? listPrice,
    onDemandPerHour,
    hazardPerHour: isSpot ? hazardPerHour : 0,
    minNodes: pool.min,
    maxNodes: pool.max,
    provisionMillis: pool.provision,
    profile: pool.profile,
  };
}

export function workloadType(kind: string | undefined): ResourceType {
  return kind === 'StatefulSet' ? resources.statefulSets : resources.deployments;
}

/** A workload of a scenario with its own name: copies are told apart. */
export interface NamedWorkload extends ScenarioWorkload {
  readonly replicasAtStart: number;
  readonly curve: LoadCurve | undefined;
}

export function workloadsOf({ workloads }: Scenario): NamedWorkload[] {
  return workloads.flatMap((workload) =>
    Array.from({ length: workload.copies }, (_, index): NamedWorkload => {
      const { replicas } = workload;
      const curve = typeof replicas === 'number' ? undefined : replicas;
      return {
        ...workload,
        name: workload.copies === 1 ? workload.name : `${workload.name}-${index + 1}`,
        replicasAtStart: typeof replicas === 'number' ? replicas : Math.round(replicas.points[0]?.replicas ?? 0),
        curve,
      };
    }),
  );
}

/**
 * In the order to be made: namespaces first, policies and bounds before the workloads they hold for. Namespaces that
 * workloads name but the scenario does not list are enabled, without annotations.
 */
export function objectsOf(scenario: Scenario): KubeObject[] {
  const listed = new Set(scenario.namespaces.map(({ name }) => name));
  const named = new Set(scenario.workloads.map(({ namespace }) => namespace).filter((name) => !listed.has(name)));
  const workloads = workloadsOf(scenario);
  return [
    ...scenario.namespaces.map(({ name, enabled, annotations }) => namespaceObject(name, enabled, annotations)),
    ...[...named].map((name) => namespaceObject(name, true, {})),
    ...scenario.objects,
    ...scenario.policies.map(policyObject),
    ...workloads.map(workloadObject),
    ...workloads.flatMap((workload) => (workload.pdb === undefined ? [] : [pdbObject(workload, workload.pdb)])),
  ];
}

export function namespaceObject(
  name: string,
  isEnabled: boolean,
  annotations: Readonly<Record<string, string>>,
): KubeObject {
  const labels = isEnabled ? { [placementKeys.enabled]: 'true' } : {};
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations: { ...annotations } } };
}

function workloadObject(workload: NamedWorkload): Deployment | StatefulSet {
  const { name, namespace, kind, replicasAtStart, enabled, spot, floor, maxSurge, maxUnavailable } = workload;
  const annotations = {
    ...(spot === undefined ? {} : { [placementKeys.spotPercentage]: spot }),
    ...(floor === undefined ? {} : { [placementKeys.minOnDemand]: floor }),
    ...workload.annotations,
  };
  const labels = { ...(enabled ? { [placementKeys.enabled]: 'true' } : {}), ...workload.labels };
  const metadata = { name, namespace, labels, annotations };
  const common = {
    replicas: replicasAtStart,
    selector: { matchLabels: { app: name } },
    template: templateOf(workload),
  };
  if (kind === 'StatefulSet') return { apiVersion: 'apps/v1', kind, metadata, spec: { ...common, serviceName: name } };
  const rollingUpdate = {
    ...(maxSurge === undefined ? {} : { maxSurge }),
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
  };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { ...common, strategy: { type: 'RollingUpdate', rollingUpdate } },
  };
}

function templateOf({ name, cpu, memory, ready, use, limits, restartOnResize, podLabels }: NamedWorkload) {
  const annotations = {
    'stowage.test/ready-after': `${ready}ms`,
    ...(use.cpu === undefined ? {} : { [LOAD_ANNOTATIONS.cpu]: use.cpu }),
    ...(use.memory === undefined ? {} : { [LOAD_ANNOTATIONS.memory]: use.memory }),
  };
  const hasLimits = limits.cpu !== undefined || limits.memory !== undefined;
  const resources = { requests: quantities({ cpu, memory }), ...(hasLimits ? { limits: quantities(limits) } : {}) };
  const resizePolicy = restartOnResize.map((resourceName) => ({ resourceName, restartPolicy: 'RestartContainer' }));
  const container = { name: 'app', image: 'app:1', resources, ...(resizePolicy.length > 0 ? { resizePolicy } : {}) };
  return { metadata: { labels: { app: name, ...podLabels }, annotations }, spec: { containers: [container] } };
}

function quantities({ cpu, memory }: ScenarioWorkload['limits']): Record<string, string> {
  return {
    ...(cpu === undefined ? {} : { cpu: formatQuantity(fromMillicores(cpu)) }),
    ...(memory === undefined ? {} : { memory: formatQuantity(fromBytes(memory)) }),
  };
}

function policyObject({ name, namespace, spec }: ScenarioPolicy): KubeObject {
  return {
    apiVersion: 'optipod.io/v1alpha1',
    kind: 'OptimizationPolicy',
    metadata: { name, namespace },
    ...{ spec },
  };
}

function pdbObject({ name, namespace }: NamedWorkload, pdb: NonNullable<ScenarioWorkload['pdb']>): PodDisruptionBudget {
  const { minAvailable, maxUnavailable } = pdb;
  const amount = minAvailable === undefined ? { maxUnavailable: maxUnavailable ?? 1 } : { minAvailable };
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { ...amount, selector: { matchLabels: { app: name } } },
  };
}

/** Whether a namespace has a quota at some time. */
export function quotasOf(
  { objects, events }: Scenario,
  fromFiles: readonly KubeObject[],
): (namespace: string) => boolean {
  const late = events.flatMap((event) => (event.do === 'apply' ? [event.object] : []));
  const quotas = [...objects, ...late, ...fromFiles].filter(({ kind }) => kind === 'ResourceQuota');
  const namespaces = new Set(quotas.map(({ metadata }) => treeAt({ metadata }, 'metadata')['namespace']));
  return (namespace) => namespaces.has(namespace);
}

/** Namespaces of Stowage itself, and the definitions of what its engines read. */
export function systemObjects({ engines }: Config): KubeObject[] {
  const definitions = engines.rightsizing || engines.allocation ? crdDescriptions.map(customResourceDefinition) : [];
  const namespaces = engines.allocation ? ['spotalis-system', 'mbcas-system'] : ['spotalis-system'];
  return [...namespaces.map((name) => namespaceObject(name, false, {})), ...definitions];
}

/** Agents and operator must agree on these. */
export function agentEnv({ allocation }: Config): Record<string, string> {
  return {
    STOWAGE_ALLOCATION_APPLY: allocation.apply,
    STOWAGE_ALLOCATION_MANAGEMENT_MODE: allocation.managementMode,
    STOWAGE_ALLOCATION_STALE_AFTER: `${allocation.staleAfter}ms`,
  };
}

/**
 * Registers the webhook as deploy/webhook.yaml does, without the certificate that a call in this process needs none of.
 */
export function webhookObject(): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis-mutating-webhook' },
    ...{
      webhooks: [
        {
          name: 'pod.spotalis.io',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'spotalis', namespace: 'spotalis-system', path: '/mutate', port: 443 } },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
          ],
          failurePolicy: 'Ignore',
          timeoutSeconds: 2,
          sideEffects: 'NoneOnDryRun',
          reinvocationPolicy: 'Never',
          namespaceSelector: { matchLabels: { [placementKeys.enabled]: 'true' } },
        },
      ],
    },
  };
}
