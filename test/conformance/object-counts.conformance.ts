/** ResourceQuota on the number of objects: of built-in types by both their names, and of custom ones. */
import { expect, test } from 'vitest';
import type { Namespace } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { workload } from './objects.ts';
import { quotaInForce, usedOf } from './quotas.ts';

const secretsOf = ({ name }: Namespace): string => `/api/v1/namespaces/${name}/secrets`;

describeOnBackends('quotas on object counts', (cluster) => {
  test('as many objects as a quota allows, and one more when one is gone', async () => {
    const { post, must, namespace, eventually } = cluster();
    const own = await namespace();
    await quotaInForce(cluster(), own, 'counts', { hard: { 'count/deployments.apps': '1' } });
    await must(post(own.deployments, workload('a', 0)));
    await eventually(async () =>
      expect(await usedOf(cluster(), own, 'counts')).toEqual({ 'count/deployments.apps': '1' }),
    );
    const refused = await post(own.deployments, workload('b', 0));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      reason: 'Forbidden',
      details: { name: 'b', group: 'apps', kind: 'deployments' },
    });
    expect(refused.body['message']).toBe(
      'deployments.apps "b" is forbidden: exceeded quota: counts, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1',
    );
    await must(cluster().delete(`${own.deployments}/a`));
    await eventually(async () => expect((await post(own.deployments, workload('b', 0))).status).toBe(201));
  });

  test('core types are counted by either name', async () => {
    const { post, must, namespace } = cluster();
    const own = await namespace();
    const secrets = secretsOf(own);
    await quotaInForce(cluster(), own, 'counts', { hard: { secrets: '1', 'count/secrets': '2' } });
    await must(post(secrets, { metadata: { name: 'a' } }));
    const refused = await post(secrets, { metadata: { name: 'b' } });
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toBe(
      'secrets "b" is forbidden: exceeded quota: counts, requested: secrets=1, used: secrets=1, limited: secrets=1',
    );
  });

  test('a quota with a scope counts no other objects than pods', async () => {
    const { post, must, namespace } = cluster();
    const own = await namespace();
    await quotaInForce(cluster(), own, 'scoped', { hard: { pods: '5' }, scopes: ['NotTerminating'] });
    await must(post(own.deployments, workload('a', 0)));
  });
});
