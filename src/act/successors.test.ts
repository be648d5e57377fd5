/**
 * What holds for every write: it is of the object that was decided about, not of its successor of the same name; it
 * ends with the signal; and it says whose the fields are.
 */
import { describe, expect, test } from 'vitest';
import type { Deployment, KubeObject, Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { type OptimizationPolicy, policyType } from '../api/optimization-policy.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { apiVersionOf, type ResourceType, resources } from '../api/resources.ts';
import { approve } from '../guard/approved.ts';
import { leastPolicySpec } from '../model/testing/policies.ts';
import { aDeployment, aPod } from '../model/testing/records.ts';
import { aContainer, aPodSizing, aSizedWorkload, smallSize } from '../model/testing/sizing-records.ts';
import { createWriteAllocationStatus } from './allocation-status.ts';
import { createEvict } from './evict.ts';
import { createWritePolicyStatus } from './policy-status.ts';
import { createResize } from './resize.ts';
import { createRestamp } from './restamp.ts';
import { createForgetOriginals, createHandBackTemplate } from './restore.ts';
import { createRetemplate } from './retemplate.ts';
import { type Known, worldWith } from './testing/known-object.ts';
import { createAnnotateWorkload } from './workload-annotations.ts';

const inShop = { namespace: 'shop' };
const why = { summary: '', numbers: {} };
const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const originals = 'optipod.io/original-resources';
const sized = { requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '400m', memory: '256Mi' } };
const container = { name: 'app', image: 'app:1', resources: sized };
const annotations = { [originals]: '{}', 'mbcas.io/original-resources': '{}' };

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', ...inShop, annotations },
  spec: { containers: [container] },
};
const bare: Pod = { ...pod, metadata: { name: 'web', ...inShop } };
const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...inShop, annotations },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
  },
};
const policy: OptimizationPolicy = {
  apiVersion: 'optipod.io/v1alpha1',
  kind: 'OptimizationPolicy',
  metadata: { name: 'web', ...inShop },
  spec: leastPolicySpec,
};
const allocation = {
  apiVersion: apiVersionOf(podAllocations),
  kind: podAllocations.kind,
  metadata: { name: 'web', ...inShop },
  spec: { namespace: 'shop', podName: 'web', podUID: 'p', desiredCPURequest: '1', desiredCPULimit: '1' },
};

interface Writer {
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly manager: string | undefined;
  write(api: KubeApi, known: Known, signal: AbortSignal): Promise<{ readonly result: string }>;
}

const resizeBy =
  (engine: 'rightsizing' | 'allocation'): Writer['write'] =>
  (api, { uid, resourceVersion }, signal) => {
    const marks = { [originals]: '{}', 'mbcas.io/original-resources': '{}' };
    const found = { pod: aPod(aDeployment(), 'web', { uid, resourceVersion }), sizing: aPodSizing({ marks }) };
    const changes = [{ container: 'app', to: { cpuRequest: 300 } }];
    const ref = { namespace: 'shop', name: 'web', uid };
    const decision = { kind: 'resize', engine, workload, workloadUid: 'd', pod: ref, changes, why } as const;
    return createResize({ api, pod: () => found })(approve(decision), signal);
  };
const retemplateBy =
  (useServerSideApply: boolean): Writer['write'] =>
  (api, { uid }, signal) => {
    const known = aSizedWorkload({ uid, containers: [aContainer({ size: smallSize })] });
    const changes = [{ container: 'app', to: { cpuRequest: 300 } }];
    const decision = { kind: 'retemplate', engine: 'rightsizing', workload, workloadUid: uid, changes, why } as const;
    return createRetemplate({ api, workload: () => known })(
      approve({ ...decision, useServerSideApply, force: true }),
      signal,
    );
  };

const writers: Readonly<Record<string, Writer>> = {
  'an eviction': {
    type: resources.pods,
    object: pod,
    manager: undefined,
    write: (api, { uid }, signal) =>
      createEvict(api)(
        approve({
          kind: 'evict',
          engine: 'placement',
          workload,
          workloadUid: 'd',
          pod: { namespace: 'shop', name: 'web', uid },
          from: 'spot',
          to: 'on-demand',
          onDemandFloor: 0,
          why,
        }),
        signal,
      ),
  },
  'a correction of stamps': {
    type: resources.pods,
    object: pod,
    manager: 'stowage',
    write: (api, { uid, resourceVersion }, signal) =>
      createRestamp(api)(
        approve({
          kind: 'restamp',
          engine: 'placement',
          workload,
          workloadUid: 'd',
          pod: { namespace: 'shop', name: 'web', uid },
          resourceVersion,
          slot: 2,
          capacity: 'spot',
          deletionCost: 2,
          why,
        }),
        signal,
      ),
  },
  'a resize of rightsizing': { type: resources.pods, object: pod, manager: 'optipod', write: resizeBy('rightsizing') },
  'a resize of allocation': {
    type: resources.pods,
    object: pod,
    manager: 'mbcas-controller',
    write: resizeBy('allocation'),
  },
  'forgetting what a pod had': {
    type: resources.pods,
    object: pod,
    manager: undefined,
    write: (api, { uid }, signal) =>
      createForgetOriginals(api)({ namespace: 'shop', name: 'web', uid }, 'rightsizing', signal),
  },
  'a template, applied': {
    type: resources.deployments,
    object: deployment,
    manager: 'optipod',
    write: retemplateBy(true),
  },
  'a template, patched': {
    type: resources.deployments,
    object: deployment,
    manager: 'optipod',
    write: retemplateBy(false),
  },
  'handing a template back': {
    type: resources.deployments,
    object: deployment,
    manager: undefined,
    write: (api, { uid }, signal) => createHandBackTemplate(api)({ ...workload, uid }, signal),
  },
  'annotations of a workload': {
    type: resources.deployments,
    object: deployment,
    manager: 'optipod',
    write: (api, { uid }, signal) =>
      createAnnotateWorkload(api)(aSizedWorkload({ uid }), { 'optipod.io/managed': 'true' }, signal),
  },
  'the status of a policy': {
    type: policyType('optipod.io'),
    object: policy,
    manager: 'stowage',
    write: (api, { uid }, signal) =>
      createWritePolicyStatus(api)(
        { group: 'optipod.io', namespace: 'shop', name: 'web', uid },
        { workloadsDiscovered: 1 },
        signal,
      ),
  },
  'the status of an allocation': {
    type: podAllocations,
    object: allocation,
    manager: 'mbcas-controller',
    write: (api, { uid }, signal) =>
      createWriteAllocationStatus(api)({ namespace: 'shop', name: 'web', uid }, { phase: 'Applied' }, signal),
  },
};

const { signal } = new AbortController();

describe.each(Object.entries(writers))('%s', (_, writer) => {
  test('is written to the object it is about, in the name of its manager', async () => {
    const { api, make, read } = await worldWith(writer);
    const known = await make();
    const { result } = await writer.write(api, known, signal);
    expect(['evicted', 'restamped', 'accepted', 'restored', 'written']).toContain(result);
    const after = await read().catch(() => undefined);
    expect(after?.metadata?.resourceVersion).not.toBe(known.resourceVersion);
    if (writer.manager !== undefined)
      expect((after?.metadata?.managedFields ?? []).map(({ manager }) => manager)).toContain(writer.manager);
  });

  test('leaves a successor of the same name alone', async () => {
    const { api, make, read, replace } = await worldWith(writer);
    const known = await make();
    const { uid, resourceVersion } = await replace();
    await writer.write(api, known, signal);
    expect((await read()).metadata).toMatchObject({ uid, resourceVersion });
  });

  test('leaves alone a successor that took the name between reading and writing', async () => {
    const { api, make, read, replace } = await worldWith(writer);
    const known = await make();
    let successor: Known | undefined;
    const racing: KubeApi = {
      ...api,
      async get(type, name, options) {
        const object = await api.get(type, name, options);
        successor ??= await replace();
        return object;
      },
    };
    await writer.write(racing, known, signal);
    if (successor !== undefined) expect((await read()).metadata).toMatchObject(successor);
  });

  test('is not made any more where the signal has ended, and does not reject', async () => {
    const { api, make, read } = await worldWith(writer);
    const known = await make();
    await writer.write(api, known, AbortSignal.abort());
    expect((await read()).metadata).toMatchObject(known);
  });
});

describe('a fallback', () => {
  test('is of the pod as it was seen to wait: one that changed since, and may have a node, stays', async () => {
    const { api, make, read } = await worldWith({ type: resources.pods, object: bare });
    const { uid, resourceVersion } = await make();
    const fallBack = (version: string) =>
      createEvict(api)(
        approve({
          kind: 'fallback',
          engine: 'placement',
          workload,
          workloadUid: 'd',
          pod: { namespace: 'shop', name: 'web', uid },
          resourceVersion: version,
          to: 'on-demand',
          slot: 0,
          waitingSince: 0,
          excess: 1,
          maxExcess: 1,
          why,
        }),
        signal,
      );
    await api.patch(resources.pods, 'web', { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }, inShop);
    expect(await fallBack(resourceVersion)).toEqual({ result: 'changed' });
    expect(await fallBack((await read()).metadata?.resourceVersion ?? '')).toEqual({ result: 'evicted' });
  });
});

describe('what a pod had', () => {
  const ask = async (changes: { readonly isWithdrawal?: boolean; readonly isRestore?: boolean }) => {
    const { api, make, read } = await worldWith({ type: resources.pods, object: bare });
    const { uid, resourceVersion } = await make();
    const found = { pod: aPod(aDeployment(), 'web', { uid, resourceVersion }), sizing: aPodSizing() };
    const decision = {
      kind: 'resize',
      engine: 'rightsizing',
      workload,
      workloadUid: 'd',
      pod: { namespace: 'shop', name: 'web', uid },
      changes: [{ container: 'app', to: { cpuRequest: 300 } }],
      why,
      ...changes,
    } as const;
    await createResize({ api, pod: () => found })(approve(decision), signal);
    return (await read()).metadata?.annotations?.[originals];
  };

  test('is kept before it is changed, and not when a change is taken back', async () => {
    expect(await ask({})).toContain('200m');
    expect(await ask({ isWithdrawal: true })).toBeUndefined();
    expect(await ask({ isRestore: true })).toBeUndefined();
  });
});
