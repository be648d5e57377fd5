import { expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { expectCauses } from './expect-causes.ts';
import { workload, workloadSpec } from './objects.ts';

describeOnBackends('validation of workloads and budgets', (cluster) => {
  test('several faults are told together', async () => {
    const { post, namespace } = cluster();
    const { deployments } = await namespace();
    const answer = await post(deployments, {
      metadata: { name: 'a' },
      spec: { template: workloadSpec('a')['template'] },
    });
    expectCauses(answer, [
      { field: 'spec.selector', reason: 'FieldValueRequired' },
      { field: 'spec.template.metadata.labels', reason: 'FieldValueInvalid' },
    ]);
    expect(answer.body['message']).toMatch(/^Deployment\.apps "a" is invalid: \[spec\.selector: Required value, /);
  });

  test('the selector of a Deployment must match its template, and is not empty', async () => {
    const { post, namespace } = cluster();
    const { deployments } = await namespace();
    const { template } = workloadSpec('a');
    expectCauses(
      await post(deployments, {
        metadata: { name: 'a' },
        spec: { selector: { matchLabels: { app: 'b' } }, template },
      }),
      [
        {
          field: 'spec.template.metadata.labels',
          message: 'Invalid value: {"app":"a"}: `selector` does not match template `labels`',
        },
      ],
    );
    expectCauses(await post(deployments, { metadata: { name: 'a' }, spec: { selector: {}, template } }), [
      { field: 'spec.selector' },
    ]);
  });

  test('the selector of a Deployment is immutable', async () => {
    const { post, mergePatch, must, namespace } = cluster();
    const { deployments } = await namespace();
    await must(post(deployments, workload('a', 0)));
    const labels = { app: 'a', more: '1' };
    const answer = await mergePatch(`${deployments}/a`, {
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
    });
    expectCauses(answer, [{ field: 'spec.selector', reason: 'FieldValueInvalid' }]);
    expect(textAt(answer.body, 'details', 'causes', 0, 'message')).toMatch(/: field is immutable$/);
  });

  test.each([
    ['serviceName', { serviceName: 'other' }],
    ['podManagementPolicy', { podManagementPolicy: 'Parallel' }],
    ['selector', { selector: { matchLabels: { more: '1' } }, template: { metadata: { labels: { more: '1' } } } }],
  ])('%s of a StatefulSet cannot be changed', async (_, spec) => {
    const { post, mergePatch, must, namespace } = cluster();
    const { statefulSets } = await namespace();
    await must(post(statefulSets, { metadata: { name: 'a' }, spec: { ...workloadSpec('a', 0), serviceName: 'a' } }));
    expect((await mergePatch(`${statefulSets}/a`, { spec })).status).toBe(422);
  });

  test('negative replicas are refused', async () => {
    const { post, namespace } = cluster();
    const { deployments } = await namespace();
    expectCauses(await post(deployments, workload('a', -1)), [
      { field: 'spec.replicas', message: 'Invalid value: -1: must be greater than or equal to 0' },
    ]);
  });

  test('a disruption budget takes minAvailable or maxUnavailable, not both', async () => {
    const { post, namespace } = cluster();
    const { budgets } = await namespace();
    const selector = { matchLabels: { app: 'a' } };
    const both = await post(budgets, {
      metadata: { name: 'a' },
      spec: { selector, minAvailable: 1, maxUnavailable: 1 },
    });
    expect(both.status).toBe(422);
    expect(both.body['message']).toContain('minAvailable and maxUnavailable cannot be both set');
    expect((await post(budgets, { metadata: { name: 'a' }, spec: { selector, minAvailable: '150%' } })).status).toBe(
      422,
    );
    expect((await post(budgets, { metadata: { name: 'a' }, spec: { selector, maxUnavailable: -1 } })).status).toBe(422);
  });

  test('a disruption budget cannot be replaced without its resourceVersion', async () => {
    const { post, put, must, namespace } = cluster();
    const { budgets } = await namespace();
    const spec = { selector: { matchLabels: { app: 'a' } }, minAvailable: 1 };
    await must(post(budgets, { metadata: { name: 'a' }, spec }));
    const answer = await put(`${budgets}/a`, { metadata: { name: 'a' }, spec });
    expectCauses(answer, [
      { field: 'metadata.resourceVersion', message: 'Invalid value: 0: must be specified for an update' },
    ]);
    expect(at(answer.body, 'details', 'kind')).toBe('poddisruptionbudgets');
  });
});
