import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import type { RetemplateDecision } from '../decide/size-decision.ts';
import { approve } from '../guard/approved.ts';
import { createRetemplate } from './retemplate.ts';
import { createTemplateWorld, inDefault, managersOf, sizes } from './testing/template-world.ts';

const { signal } = new AbortController();

describe.each([true, false])('server-side apply: %s', (useServerSideApply) => {
  test('all containers change in one write and one rollout; limits stay, and what was there is kept', async () => {
    const { world, record, retemplate, read } = await createTemplateWorld();
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
    const { world, record, retemplate, read } = await createTemplateWorld();
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

  test('a limit without a request is the request of the pods, and no change of somebody else', async () => {
    const { world, record, retemplate, read } = await createTemplateWorld({ limits: { memory: '128Mi' } });
    const changes = [{ container: 'app', to: { memoryRequest: 96 * 2 ** 20 } }];
    expect(await retemplate(await record(), { useServerSideApply, changes })).toMatchObject({ result: 'accepted' });
    expect(sizes(await read())?.[0]).toEqual({
      requests: { cpu: '200m', memory: '96Mi' },
      limits: { memory: '128Mi' },
    });
    await world[Symbol.asyncDispose]();
  });

  test('the same change again writes nothing', async () => {
    const { world, record, retemplate, read } = await createTemplateWorld();
    await retemplate(await record(), { useServerSideApply });
    await world.seconds(60);
    const before = await read();
    await retemplate(await record(), { useServerSideApply });
    expect((await read()).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
    await world[Symbol.asyncDispose]();
  });
});

describe('conflicts', () => {
  test('without force, the other manager and the field are named', async () => {
    const { world, record, retemplate, read } = await createTemplateWorld();
    const outcome = await retemplate(await record(), { force: false });
    expect(outcome).toMatchObject({ result: 'refused', action: 'give-up', reason: 'TemplateConflict' });
    expect(outcome.result === 'refused' && outcome.message).toMatch(/gitops.*app.*cpu/s);
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '200m', memory: '64Mi' });
    await world[Symbol.asyncDispose]();
  });

  test('a change in the same moment, such as of a status, is met by reading anew, once', async () => {
    const { world, api, record, read } = await createTemplateWorld();
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
      force: true,
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
    const { world, api, record, retemplate, read, sync } = await createTemplateWorld();
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

  test('another workload of the name is left alone', async () => {
    const { world, record, retemplate, read } = await createTemplateWorld();
    const older = { ...(await record()), uid: 'older' };
    expect(await retemplate(older)).toEqual({ result: 'gone' });
    expect(sizes(await read())?.[0]?.requests).toEqual({ cpu: '200m', memory: '64Mi' });
    await world[Symbol.asyncDispose]();
  });

  test('a kind that is not ours to write, or a workload nobody knows, is not written', async () => {
    const { world, api, record } = await createTemplateWorld();
    const known = await record();
    const decision: RetemplateDecision = {
      kind: 'retemplate',
      engine: 'rightsizing',
      workload: { kind: 'CronJob', namespace: 'default', name: 'web' },
      workloadUid: known.uid,
      changes: [],
      useServerSideApply: true,
      force: true,
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
