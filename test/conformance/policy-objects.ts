/** OptimizationPolicies and their definitions, as plain objects. */
import { expect } from 'vitest';
import { type CustomResourceDefinition, customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { at, type Cluster } from './cluster.ts';
import type { Json } from './endpoint.ts';

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const policyCrds = crdDescriptions
  .filter(({ kind }) => kind === 'OptimizationPolicy')
  .map((description) => customResourceDefinition(description));

/** The least a policy has to say. */
export const least = {
  mode: 'Recommend',
  selector: { workloadSelector: { matchLabels: { optimize: 'true' } } },
  metricsConfig: { provider: 'prometheus' },
  resourceBounds: { cpu: { min: '100m', max: 4 }, memory: { min: '128Mi', max: '8Gi' } },
  updateStrategy: {},
};

export const policy = (name: string, spec: object): Json => ({ kind: 'OptimizationPolicy', metadata: { name }, spec });
export const pathIn = (group: string, namespace: string): string =>
  `/apis/${group}/v1alpha1/namespaces/${namespace}/optimizationpolicies`;

/** Creates the definition, or brings one that is there up to date, and waits until its kind is served. */
export async function installDefinition(cluster: Cluster, crd: CustomResourceDefinition): Promise<void> {
  const path = `${CRDS}/${crd.metadata.name}`;
  await cluster.must(cluster.apply(`${path}?fieldManager=stowage-test&force=true`, crd));
  await cluster.eventually(async () => {
    const conditions = at((await cluster.get(path)).body, 'status', 'conditions');
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Established', status: 'True' }));
    const served = await cluster.get(`/apis/${crd.spec.group}/v1alpha1/optimizationpolicies?limit=1`);
    expect(served.status).toBe(200);
  });
}
