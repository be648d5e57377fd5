/** The CRD of PodAllocation on the API server: as MBCAS shipped it, with rules for what must never be written. */
import { beforeAll, expect, test } from 'vitest';
import { customResourceDefinition } from '../../src/api/crd/crd.ts';
import { podAllocationDescription } from '../../src/api/pod-allocation-schema.ts';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crd = customResourceDefinition(podAllocationDescription);
const pathIn = (namespace: string): string =>
  `/apis/allocation.mbcas.io/v1alpha1/namespaces/${namespace}/podallocations`;

/** As MBCAS writes it: nothing but the four fields it knows. */
const shipped = { namespace: 'shop', podName: 'web-1', desiredCPURequest: '450m', desiredCPULimit: '500m' };
const allocation = (name: string, spec: object): Json => ({
  apiVersion: 'allocation.mbcas.io/v1alpha1',
  kind: 'PodAllocation',
  metadata: { name },
  spec,
});

describeOnBackends('pod allocations', (cluster) => {
  beforeAll(async () => {
    const { must, apply, eventually, get } = cluster();
    const path = `${CRDS}/${crd.metadata.name}`;
    await must(apply(`${path}?fieldManager=stowage-test&force=true`, crd));
    await eventually(async () => {
      expect(at((await get(path)).body, 'status', 'conditions')).toContainEqual(
        expect.objectContaining({ type: 'Established', status: 'True' }),
      );
      expect((await get('/apis/allocation.mbcas.io/v1alpha1/podallocations?limit=1')).status).toBe(200);
    });
  });

  test('the definition is structural, and stored as it was sent', async () => {
    const { body } = await cluster().get(`${CRDS}/${crd.metadata.name}`);
    expect(at(body, 'status', 'conditions')).not.toContainEqual(
      expect.objectContaining({ type: 'NonStructuralSchema' }),
    );
    expect(at(body, 'spec', 'versions', 0, 'schema')).toEqual(crd.spec.versions[0]?.schema);
  });

  test('an object of MBCAS is taken as it is; kubectl get shows its columns in their order', async () => {
    const { namespace, post, must, mergePatch, call } = cluster();
    const path = pathIn((await namespace()).name);
    const created = await must(post(path, allocation('web-1', shipped)));
    expect(created['spec']).toEqual(shipped);
    const status = { phase: 'Applied', appliedCPURequest: '450m', appliedCPULimit: '500m', shadowPriceCPU: 0.5 };
    await must(mergePatch(`${path}/web-1/status`, { status }));
    const { body } = await call('GET', `${path}/web-1`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const definitions = at(body, 'columnDefinitions');
    const names = Array.isArray(definitions) ? definitions.map((each) => at(each, 'name')) : [];
    expect(names.filter((name) => name !== 'Name').slice(0, 8)).toEqual([
      'Namespace',
      'Pod',
      'Desired Request',
      'Desired Limit',
      'Applied Request',
      'Applied Limit',
      'Status',
      'Age',
    ]);
    expect(at(body, 'rows', 0, 'cells')).toEqual(expect.arrayContaining(['shop', '450m', '500m', 'Applied']));
  });

  test.each([
    ['a request above the limit', { desiredCPURequest: '600m' }, 'must not be greater than desiredCPULimit'],
    ['a request of nothing', { desiredCPURequest: '0' }, 'must be greater than zero'],
    ['an amount that is none', { desiredCPULimit: 'lots' }, 'spec.desiredCPULimit'],
    ['a policy that does not exist', { limitPolicy: 'Drop' }, 'spec.limitPolicy'],
    ['no pod', { podName: undefined }, 'spec.podName'],
  ])('%s is refused', async (_what, change, message) => {
    const { namespace, post } = cluster();
    const { status, body } = await post(pathIn((await namespace()).name), allocation('bad', { ...shipped, ...change }));
    expect([status, body['message']]).toEqual([422, expect.stringContaining(message)]);
  });

  test('amounts are compared, not texts: half a core is no more than 500m', async () => {
    const { namespace, post } = cluster();
    const spec = { ...shipped, desiredCPURequest: '0.5', desiredCPULimit: '500m' };
    expect((await post(pathIn((await namespace()).name), allocation('equal', spec))).status).toBe(201);
  });

  test('the pod of an allocation never changes', async () => {
    const { namespace, post, must, mergePatch } = cluster();
    const path = pathIn((await namespace()).name);
    await must(post(path, allocation('web-1', { ...shipped, podUID: 'a' })));
    for (const change of [{ podName: 'web-2' }, { namespace: 'other' }, { podUID: 'b' }]) {
      const { status, body } = await mergePatch(`${path}/web-1`, { spec: change });
      expect([status, body['message']]).toEqual([
        422,
        expect.stringContaining('the pod of an allocation cannot change'),
      ]);
    }
    expect((await mergePatch(`${path}/web-1`, { spec: { desiredCPURequest: '300m' } })).status).toBe(200);
  });
});
