import { describe, expect, test } from 'vitest';
import type { Deployment, KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { startVirtualCluster, testNodes } from '../cluster/testing/virtual-cluster.ts';
import type { RetemplateDecision } from '../decide/size-decision.ts';
import { approve } from '../guard/approved.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import { createProjections } from '../observe/project.ts';
import { createHandBack } from './restore.ts';
import { createRetemplate } from './retemplate.ts';

const { signal } = new AbortController();
const inDefault = { namespace: 'default' };

const manifest = (cpu = '200m') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'app',
            image: 'app:1',
            resources: { requests: { cpu, memory: '64Mi' }, limits: { memory: '128Mi' } },
          },
          { name: 'log', image: 'log:1', resources: { requests: { cpu: '50m' } } },
        ],
      },
    },
  },
});

/** A Deployment applied by `gitops`, server-side. */
async function createWorld() {
  const world = await startVirtualCluster({ nodes: testNodes(1) });
  const { api } = world.cluster;
  const project = createProjections(
    (message) => {
      throw new Error(message);
    },
    { sizing: true },
  );
  const sync = (cpu?: string) =>
    api.patch(
      resources.deployments,
      'web',
      { type: 'apply', body: manifest(cpu) },
      { ...inDefault, fieldManager: 'gitops' },
    );
  await sync();
  await world.seconds(20);
  const read = () => api.get(resources.deployments, 'web', inDefault);
  const record = async (): Promise<SizedWorkload> => {
    const sized = project.deployment(await read())?.sized;
    if (sized === undefined) throw new Error('not read');
    return sized;
  };
  const retemplate = async (known: SizedWorkload, changes: Partial<RetemplateDecision> = {}) => {
    const decision: RetemplateDecision = {
      kind: 'retemplate',
      engine: 'rightsizing',
      workload: { kind: 'Deployment', namespace: 'default', name: 'web' },
      workloadUid: known.uid,
      changes: [
        { container: 'app', to: { cpuRequest: 300 } },
        { container: 'log', to: { cpuRequest: 60 } },
      ],
      useServerSideApply: true,
      why: { summary: 'more', numbers: {} },
      ...changes,
    };
    return await createRetemplate({ api, workload: () => known })(approve(decision), signal);
  };
  return { world, api, sync, read, record, retemplate };
}

const sizes = ({ spec }: Deployment) => spec?.template.spec?.containers.map(({ resources: amounts }) => amounts);
const managersOf = ({ metadata }: KubeObject) =>
  (metadata?.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);

describe.each([true, false])('server-side apply: %s', (useServerSideApply) => {
  test('all containers change in one write and one rollout; limits stay, and what was there is kept', async () => {
    const { world, record, retemplate, read } = await createWorld();
    const before = (await read()).metadata?.generation ?? 0;
    const outcome = await retemplate(await record(), { useServerSideApply });
    expect(outcome).toMatchObject({ result: 'accepted', tookFrom: ['gitops'] });
    const after = await read();
    expect(sizes(after)).toEqual([
      { requests: { cpu: '300m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      { requests: { cpu: '60m' } },
    ]);
    expect((after.metadata?.generation ?? 0) - before).toBe(1);
    expect(managersOf(after)).toContain(useServerSideApply ? 'optipod Apply' : 'optipod Update');
    expect(after.metadata?.annotations?.['optipod.io/original-resources']).toContain('"cpu":"200m"');
    await world.seconds(60);
    expect(world.pods().map(({ spec }) => spec?.containers[0]?.resources?.requests?.['cpu'])).toEqual(['300m']);
    await world[Symbol.asyncDispose]();
  });

  test('the second change keeps the first originals and what the first one applied', async () => {
    const { world, record, retemplate, read } = await createWorld();
    await retemplate(await record(), { useServerSideApply });
    const changes = [{ container: 'app', to: { memoryRequest: 96 * 2 ** 20 } }];
    // What was ours before is taken from nobody else.
    expect(await retemplate(await record(), { useServerSideApply, changes })).toMatchObject({
      result: 'accepted',
      tookFrom: ['gitops'],
    });
    const after = await read();
    expect(sizes(after)?.map((size) => size?.requests)).toEqual([{ cpu: '300m', memory: '96Mi' }, { cpu: '60m' }]);
    expect(after.metadata?.annotations?.['optipod.io/original-resources']).toContain('"cpu":"200m"');
    await world[Symbol.asyncDispose]();
  });

  test('the same change again writes nothing', async () => {
    const { world, record, retemplate, read } = await createWorld();
    await retemplate(await record(), { useServerSideApply });
    await world.seconds(60);
    const before = await read();
    await retemplate(await record(), { useServerSideApply });
    expect((await read()).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
    await world[Symbol.asyncDispose]();
  });

  test('handing back leaves no trace but the values, and the next sync of the owner does not conflict', async () => {
    const { world, api, record, retemplate, read, sync } = await createWorld();
    await retemplate(await record(), { useServerSideApply });
    const handBack = createHandBack(api);
    expect(await handBack(await record(), signal)).toEqual({ result: 'restored' });
    const after = await read();
    expect(sizes(after)).toEqual([
      { requests: { cpu: '300m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      { requests: { cpu: '60m' } },
    ]);
    expect(managersOf(after).filter((manager) => manager.startsWith('optipod'))).toEqual([]);
    expect(after.metadata?.annotations?.['optipod.io/original-resources']).toBeUndefined();
    expect(await handBack(await record(), signal)).toEqual({ result: 'unchanged' });
    await sync('250m');
    expect(sizes(await read())?.[0]?.requests?.['cpu']).toBe('250m');
    await world[Symbol.asyncDispose]();
  });
});

describe('handing back', () => {
  const refusals = async (httpStatus: number) => {
    const { world, api, record, retemplate } = await createWorld();
    await retemplate(await record());
    let tries = 0;
    const busy = (times: number): KubeApi => ({
      ...api,
      patch: async (...question) => {
        if (tries++ < times) throw new KubeError(httpStatus, { reason: 'Conflict', message: 'modified' }, '');
        return await api.patch(...question);
      },
    });
    const attempt = async (times: number) => {
      tries = 0;
      const { result } = await createHandBack(busy(times))(await record(), signal);
      return [result, tries];
    };
    return { world, attempt };
  };

  test('is tried five times beside a controller that writes all the time, and no more', async () => {
    const { world, attempt } = await refusals(409);
    expect(await attempt(5)).toEqual(['refused', 5]);
    expect(await attempt(4)).toEqual(['restored', 5]);
    await world[Symbol.asyncDispose]();
  });

  test('is not tried again at once for any other answer', async () => {
    const { world, attempt } = await refusals(500);
    expect(await attempt(1)).toEqual(['refused', 1]);
    await world[Symbol.asyncDispose]();
  });

  test('takes away an annotation, also where no field is ours any more', async () => {
    const { world, api, record, retemplate, read } = await createWorld();
    await retemplate(await record());
    await createHandBack(api)(await record(), signal);
    const body = { metadata: { annotations: { 'optipod.io/original-resources': '{}' } } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body }, { ...inDefault, fieldManager: 'gitops' });
    expect(await createHandBack(api)(await record(), signal)).toEqual({ result: 'restored' });
    const { metadata } = await read();
    expect(metadata?.annotations?.['optipod.io/original-resources']).toBeUndefined();
    expect(metadata?.managedFields?.map(({ manager }) => manager)).toContain('gitops');
    await world[Symbol.asyncDispose]();
  });
});

describe('conflicts', () => {
  test('without force, the other manager and the field are named', async () => {
    const { world, record, retemplate, read } = await createWorld();
    const outcome = await retemplate(await record(), { force: false });
    expect(outcome).toMatchObject({ result: 'refused', action: 'give-up', reason: 'TemplateConflict' });
    expect(outcome.result === 'refused' && outcome.message).toMatch(/gitops.*app.*cpu/s);
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '200m', memory: '64Mi' });
    await world[Symbol.asyncDispose]();
  });

  test('a change in the same moment, such as of a status, is met by reading anew, once', async () => {
    const { world, api, record, read } = await createWorld();
    const known = await record();
    const interrupted = (times: number): Pick<KubeApi, 'get' | 'patch'> => {
      let left = times;
      return {
        async get(type, name, options) {
          const object = await api.get(type, name, options);
          if (left-- > 0) {
            const body = { metadata: { annotations: { seen: String(left) } } };
            await api.patch(resources.deployments, 'web', { type: 'merge', body }, inDefault);
          }
          return object;
        },
        patch: (...question) => api.patch(...question),
      };
    };
    const decision: RetemplateDecision = {
      kind: 'retemplate',
      engine: 'rightsizing',
      workload: { kind: 'Deployment', namespace: 'default', name: 'web' },
      workloadUid: known.uid,
      changes: [{ container: 'app', to: { cpuRequest: 300 } }],
      useServerSideApply: true,
      why: { summary: '', numbers: {} },
    };
    const attempt = (times: number) =>
      createRetemplate({ api: { ...api, ...interrupted(times) }, workload: () => known })(approve(decision), signal);
    expect(await attempt(2)).toMatchObject({ result: 'refused', reason: 'ResizeConflict' });
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '200m', memory: '64Mi' });
    expect(await attempt(1)).toMatchObject({ result: 'accepted' });
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '300m', memory: '64Mi' });
    await world[Symbol.asyncDispose]();
  });

  test('a template that somebody changed after the decision is left as it is, and nothing false is kept as original', async () => {
    const { world, api, record, retemplate, read, sync } = await createWorld();
    const known = await record();
    await sync('900m');
    expect(await retemplate(known)).toMatchObject({ result: 'refused', action: 'retry', reason: 'ResizeConflict' });
    const after = await read();
    expect(sizes(after)?.[0]?.requests).toEqual({ cpu: '900m', memory: '64Mi' });
    expect(after.metadata?.annotations?.['optipod.io/original-resources']).toBeUndefined();
    await api.patch(
      resources.deployments,
      'web',
      {
        type: 'strategic',
        body: { spec: { template: { spec: { containers: [{ $patch: 'delete', name: 'log' }] } } } },
      },
      inDefault,
    );
    expect(await retemplate(known)).toMatchObject({ reason: 'ResizeConflict' });
    expect(
      await retemplate(await record(), { changes: [{ container: 'app', to: { cpuRequest: 300 } }] }),
    ).toMatchObject({
      result: 'accepted',
    });
    await world[Symbol.asyncDispose]();
  });

  test('a workload that took the name after the reading is not handed back', async () => {
    const { world, api, record, retemplate, read, sync } = await createWorld();
    await retemplate(await record());
    const known = await record();
    let isFirst = true;
    const racing: KubeApi = {
      ...api,
      async get(type, name, options) {
        const object = await api.get(type, name, options);
        if (isFirst) {
          isFirst = false;
          await api.delete(resources.deployments, 'web', inDefault);
          await sync('900m');
        }
        return object;
      },
    };
    expect(await createHandBack(racing)(known, signal)).toEqual({ result: 'gone' });
    expect(sizes(await read())?.[0]?.requests?.['cpu']).toBe('900m');
    await world[Symbol.asyncDispose]();
  });

  test('another workload of the name is left alone', async () => {
    const { world, record, retemplate, read } = await createWorld();
    const older = { ...(await record()), uid: 'older' };
    expect(await retemplate(older)).toEqual({ result: 'gone' });
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '200m', memory: '64Mi' });
    await world[Symbol.asyncDispose]();
  });

  test('a kind that is not ours to write, or a workload nobody knows, is not written', async () => {
    const { world, api, record } = await createWorld();
    const known = await record();
    const decision: RetemplateDecision = {
      kind: 'retemplate',
      engine: 'rightsizing',
      workload: { kind: 'CronJob', namespace: 'default', name: 'web' },
      workloadUid: known.uid,
      changes: [],
      useServerSideApply: true,
      why: { summary: '', numbers: {} },
    };
    expect(await createRetemplate({ api, workload: () => known })(approve(decision), signal)).toEqual({
      result: 'gone',
    });
    const deployment = { ...decision, workload: { ...decision.workload, kind: 'Deployment' } };
    expect(await createRetemplate({ api, workload: () => undefined })(approve(deployment), signal)).toEqual({
      result: 'gone',
    });
    await world[Symbol.asyncDispose]();
  });
});
