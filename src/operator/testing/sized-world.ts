/** The embedded world with rightsizing on: policies, workloads with a load, and what became of them. */
import { onTestFinished } from 'vitest';
import type { Deployment, Event, HorizontalPodAutoscaler, Pod } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import { type OptimizationPolicy, type PolicyGroup, policyType } from '../../api/optimization-policy.ts';
import type { PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import { resources } from '../../api/resources.ts';
import { createEmbeddedWorld, type EmbeddedWorld, namespaceObject, type WorldOptions } from './embedded-world.ts';

/** Everything at once and often: what is waited for in production is waited for in tests of its own. */
const QUICK = ['sampleInterval: 5s', 'warmUp: 0s', 'reconcileInterval: 1s', 'canaryPeriod: 15s', 'revertWindow: 1m'];

export interface SizedWorldOptions extends Omit<WorldOptions, 'config'> {
  /** Lines under `rightsizing:`, two spaces in front; they come before the quick ones. */
  readonly rightsizing?: string;
  /** More of the configuration. */
  readonly config?: string;
}

/** A world with the namespaces `shop` and `spotalis-system`, both policy definitions and one replica of the operator. */
export async function startSizedWorld(options: SizedWorldOptions = {}): Promise<EmbeddedWorld> {
  const { rightsizing = '', config = '', ...rest } = options;
  const quick = QUICK.filter((line) => !rightsizing.includes(`${line.split(' ')[0]} `)).map((line) => `  ${line}`);
  const world = await createEmbeddedWorld({
    onDemandNodes: 2,
    spotNodes: 2,
    metricsEveryMillis: 5_000,
    ...rest,
    config: `engines: { rightsizing: true }\nrightsizing:\n${quick.join('\n')}\n${rightsizing}\n${config}`,
  });
  onTestFinished(() => world.stop());
  for (const description of crdDescriptions) {
    await world.cluster.apply([customResourceDefinition(description)]);
  }
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

/** Scales the Deployment `shop/web` by the utilization of its CPU requests. */
export function cpuAutoscaler(minReplicas: number, maxReplicas: number): HorizontalPodAutoscaler {
  const target = { type: 'Utilization', averageUtilization: 95 };
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas,
      maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
  };
}

export interface PolicyFields {
  readonly name?: string;
  readonly namespace?: string;
  readonly group?: PolicyGroup;
  readonly mode?: 'Auto' | 'Recommend' | 'Disabled';
  readonly spec?: Record<string, unknown>;
  readonly metrics?: Record<string, unknown>;
  readonly updates?: Record<string, unknown>;
  readonly bounds?: object;
}

/** A policy over everything in its namespace, trusting any history. */
export function policyObject(fields: PolicyFields = {}): OptimizationPolicy {
  const { name = 'sizes', namespace = 'shop', group = 'optipod.io', mode = 'Recommend' } = fields;
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: 'OptimizationPolicy',
    metadata: { name, namespace },
    spec: {
      mode,
      selector: { workloadSelector: { matchLabels: { optimize: 'true' } } },
      metricsConfig: {
        provider: 'metrics-server',
        rollingWindow: '1h',
        percentile: 'P90',
        safetyFactor: 1.2,
        minHistory: '0s',
        minSamples: 1,
        startupExclusion: '0s',
        ...fields.metrics,
      },
      resourceBounds: fields.bounds ?? {
        cpu: { min: '10m', max: '4' },
        memory: { min: '16Mi', max: '8Gi' },
      },
      updateStrategy: { cooldown: '1m', maxStep: { down: '100%' }, ...fields.updates },
      reconciliationInterval: '10s',
      ...fields.spec,
    },
  };
}

export async function createPolicy(world: EmbeddedWorld, fields: PolicyFields = {}): Promise<void> {
  const object = policyObject(fields);
  await world.api.create(policyType(fields.group ?? 'optipod.io'), object, {
    namespace: object.metadata?.namespace ?? 'shop',
  });
}

export async function readPolicy(world: EmbeddedWorld, fields: PolicyFields = {}): Promise<OptimizationPolicy> {
  const { name = 'sizes', namespace = 'shop', group = 'optipod.io' } = fields;
  return world.api.get(policyType(group), name, { namespace });
}

export async function statusOf(
  world: EmbeddedWorld,
  workload = 'web',
  fields: PolicyFields = {},
): Promise<PolicyWorkloadStatus | undefined> {
  const { status } = await readPolicy(world, fields);
  return status?.workloads?.find(({ name }) => name === workload);
}

interface LoadedFields {
  readonly name?: string;
  readonly replicas?: number;
  /** Curves: see cluster/load/pod-load.ts. */
  readonly cpu?: string;
  readonly memory?: string;
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Deployment whose single container `app` has this load. */
export function loadedDeployment(fields: LoadedFields = {}): Deployment {
  const { name = 'web', replicas = 2, cpu = '200m', memory = '100Mi' } = fields;
  const requests = fields.requests ?? { cpu: '500m', memory: '512Mi' };
  const sizes = { requests, ...(fields.limits !== undefined && { limits: fields.limits }) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'shop',
      labels: { optimize: 'true', ...fields.labels },
      annotations: { ...fields.annotations },
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: {
          labels: { app: name },
          annotations: { 'stowage.test/cpu': cpu, 'stowage.test/memory': memory },
        },
        spec: { containers: [{ name: 'app', image: 'app:1', resources: sizes }] },
      },
    },
  };
}

export async function deployLoaded(world: EmbeddedWorld, fields: LoadedFields = {}): Promise<void> {
  await world.api.create(resources.deployments, loadedDeployment(fields), { namespace: 'shop' });
}

export async function sizedPods(world: EmbeddedWorld, app = 'web'): Promise<Pod[]> {
  const { items } = await world.api.list(resources.pods, { namespace: 'shop' });
  return items.filter(({ metadata }) => metadata?.labels?.['app'] === app && metadata.deletionTimestamp === undefined);
}

/** Requests of the first container of each pod. */
export async function requestsOf(world: EmbeddedWorld, app = 'web'): Promise<Readonly<Record<string, string>>[]> {
  return (await sizedPods(world, app)).map((pod) => ({ ...pod.spec?.containers[0]?.resources?.requests }));
}

export async function sizedEvents(world: EmbeddedWorld): Promise<Event[]> {
  const { items } = await world.api.list<Event>(resources.events, { namespace: 'shop' });
  return items.filter(({ action }) => action === 'Rightsize');
}

/** Writes of the operator that are neither events nor leases nor its own status and memory. */
export function workloadWrites(world: EmbeddedWorld): string[] {
  return world.operatorWrites.filter((write) => !/ (events|leases|configmaps|optimizationpolicies)$/.test(write));
}

/** One condition of the policy of that name; undefined where it has none. */
export async function conditionOf(world: EmbeddedWorld, name: string, type: string) {
  return (await readPolicy(world, { name })).status?.conditions?.find((each) => each.type === type);
}
