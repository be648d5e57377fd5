/** Resizes the API server refuses before any kubelet hears of them, with the words and causes clients go by. */
import { expect } from 'vitest';
import type { Pod } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import { describeOnKubelets } from './describe-on-kubelets.ts';
import { amounts, resizeConditions, statusOf } from './pods.ts';

const start = amounts([100, 200], [64, 128]);
const one = { name: 'a', containers: [{ name: 'main', resources: start }] };

describeOnKubelets('refused resizes', (test) => {
  test('of more than the node could ever give: 403 with the cause NodeCapacity, also as a dry run', async (stage) => {
    const { api, run, resize, read, current } = stage;
    await run(one);
    const refusal = {
      httpStatus: 403,
      reason: 'Forbidden',
      message: expect.stringContaining(
        "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 1500",
      ),
      status: { details: { causes: [{ reason: 'NodeCapacity' }] } },
    };
    const next = amounts([3000, 3000], [64, 128]);
    await expect(resize('a', { main: next })).rejects.toMatchObject(refusal);
    const body = { spec: { containers: [{ name: 'main', resources: next }] } };
    await expect(
      api.patch(
        resources.pods,
        'a',
        { type: 'strategic', body },
        { namespace: current, subresource: 'resize', dryRun: true },
      ),
    ).rejects.toMatchObject(refusal);
    expect(resizeConditions(await read('a'))).toEqual([]);
  });

  test('count requests only: limits beyond the node are accepted', async (stage) => {
    const { run, resize, read, eventually } = stage;
    await run(one);
    const next = amounts([100, 3000], [64, 128]);
    await resize('a', { main: next });
    await eventually(async () =>
      expect(statusOf(await read('a'), 'main').resources).toEqual({ ...next, limits: { ...next.limits, cpu: '3' } }),
    );
  });

  test.each([
    ['change the QoS class', amounts([100, 100], [64, 64]), 'Pod QOS Class may not change as a result of resizing'],
    ['ask for more than their limit', amounts([300, 200], [64, 128]), 'must be less than or equal to cpu limit'],
  ])('that %s: 422', async (stage, _name, next, message) => {
    const { run, resize } = stage;
    await run(one);
    await expect(resize('a', { main: next })).rejects.toMatchObject({
      httpStatus: 422,
      reason: 'Invalid',
      message: expect.stringContaining(message),
    });
  });

  test('that remove a limit: 422', async (stage) => {
    const { api, run, current } = stage;
    await run(one);
    const body = { spec: { containers: [{ name: 'main', resources: { limits: { cpu: null } } }] } };
    await expect(
      api.patch(resources.pods, 'a', { type: 'strategic', body }, { namespace: current, subresource: 'resize' }),
    ).rejects.toMatchObject({ httpStatus: 422, message: expect.stringContaining('resource limits cannot be removed') });
  });

  test('are not those that remove a request beside a limit: the request becomes the limit', async (stage) => {
    const { api, run, current } = stage;
    await run(one);
    const body = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: null } } }] } };
    const options = { namespace: current, subresource: 'resize' };
    const resized = await api.patch<Pod>(resources.pods, 'a', { type: 'strategic', body }, options);
    expect(resized.spec?.containers[0]?.resources).toEqual(amounts([200, 200], [64, 128]));
  });

  test('outside of the subresource: 422', async (stage) => {
    const { api, run, current } = stage;
    await run(one);
    const body = { spec: { containers: [{ name: 'main', resources: amounts([150, 300], [64, 128]) }] } };
    await expect(
      api.patch(resources.pods, 'a', { type: 'strategic', body }, { namespace: current }),
    ).rejects.toMatchObject({ httpStatus: 422, message: expect.stringContaining('pod updates may not change fields') });
  });
});
