/** Policies and workloads of the rightsizing suites, and their definitions. */
import type { Deployment } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import {
  type OptimizationPolicy,
  type PolicyGroup,
  policyGroups,
  policyType,
} from '../../src/api/optimization-policy.ts';

export interface PolicyFields {
  readonly name?: string;
  readonly group?: PolicyGroup;
  readonly mode?: 'Auto' | 'Recommend' | 'Disabled';
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly metrics?: object;
  readonly updates?: object;
  readonly bounds?: object;
}

export interface LoadFields {
  readonly name?: string;
  readonly replicas?: number;
  /** Curves: src/cluster/load/pod-load.ts. Default 300m and 96Mi. */
  readonly cpu?: string;
  readonly memory?: string;
  /** Default 100m and 256Mi: too little CPU, too much memory. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Applies both definitions. @param eventually retries until they are served. */
export async function installPolicies(
  api: KubeApi,
  eventually: (attempt: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  for (const description of crdDescriptions) {
    const definition = customResourceDefinition(description);
    const { name } = definition.metadata;
    await api.patch(
      customResourceDefinitions,
      name,
      { type: 'apply', body: definition, force: true },
      { fieldManager: 'e2e' },
    );
  }
  for (const group of policyGroups) await eventually(() => api.list(policyType(group)));
}

/** Trusts any history, and changes as soon as there is something to change. */
export function policyObject(namespace: string, fields: PolicyFields = {}): OptimizationPolicy {
  const { name = 'sizes', group = 'optipod.io', mode = 'Auto' } = fields;
  const bounds = { cpu: { min: '10m', max: '4' }, memory: { min: '16Mi', max: '8Gi' } };
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: 'OptimizationPolicy',
    metadata: { name, namespace },
    spec: {
      mode,
      selector: { workloadSelector: { matchLabels: fields.labels ?? { optimize: 'true' } } },
      metricsConfig: {
        provider: 'prometheus',
        rollingWindow: '1h',
        minHistory: '0s',
        minSamples: 1,
        startupExclusion: '0s',
        ...fields.metrics,
      },
      resourceBounds: { ...bounds, ...fields.bounds },
      updateStrategy: { cooldown: '5s', maxStep: { down: '100%' }, ...fields.updates },
      reconciliationInterval: '4s',
      ...fields.spec,
    },
  };
}

/** A Deployment whose container `app` has this load. */
export function loadedDeployment(fields: LoadFields = {}): Deployment {
  const { name = 'web', replicas = 2, cpu = '300m', memory = '96Mi' } = fields;
  const { requests = { cpu: '100m', memory: '256Mi' }, limits, labels = { optimize: 'true' } } = fields;
  return {
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: {
          labels: { app: name },
          annotations: { 'stowage.test/cpu': cpu, 'stowage.test/memory': memory },
        },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'example.test/app:1',
              resources: { requests, ...(limits !== undefined && { limits }) },
            },
          ],
        },
      },
    },
  };
}
