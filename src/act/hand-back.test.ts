import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { createHandBackTemplate } from './restore.ts';
import { createTemplateWorld, inDefault, managersOf, sizes } from './testing/template-world.ts';

const { signal } = new AbortController();

describe('handing back', () => {
  const refusals = async (httpStatus: number) => {
    const { world, api, record, retemplate } = await createTemplateWorld();
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
      const { result } = await createHandBackTemplate(busy(times))(await record(), signal);
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
    const { world, api, record, retemplate, read } = await createTemplateWorld();
    await retemplate(await record());
    await createHandBackTemplate(api)(await record(), signal);
    const body = { metadata: { annotations: { 'optipod.io/original-resources': '{}' } } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body }, { ...inDefault, fieldManager: 'gitops' });
    expect(await createHandBackTemplate(api)(await record(), signal)).toEqual({ result: 'restored' });
    const { metadata } = await read();
    expect(metadata?.annotations?.['optipod.io/original-resources']).toBeUndefined();
    expect(metadata?.managedFields?.map(({ manager }) => manager)).toContain('gitops');
    await world[Symbol.asyncDispose]();
  });

  test.each([true, false])(
    'leaves no trace but the values, and the next sync of the owner does not conflict; server-side apply: %s',
    async (useServerSideApply) => {
      const { world, api, record, retemplate, read, sync } = await createTemplateWorld();
      await retemplate(await record(), { useServerSideApply });
      const handBack = createHandBackTemplate(api);
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
    },
  );

  test('is not of a workload that took the name after the reading', async () => {
    const { world, api, record, retemplate, read, sync } = await createTemplateWorld();
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
    expect(await createHandBackTemplate(racing)(known, signal)).toEqual({ result: 'gone' });
    expect(sizes(await read())?.[0]?.requests?.['cpu']).toBe('900m');
    await world[Symbol.asyncDispose]();
  });
});
