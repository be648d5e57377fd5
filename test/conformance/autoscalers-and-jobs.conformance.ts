/** Objects other engines and tests need to be there: HorizontalPodAutoscalers with their older view, Jobs, CronJobs. */
import { expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { podSpec } from './objects.ts';

describeOnBackends('autoscalers and jobs', (cluster) => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' };
  const autoscalers = async (version = 'v2') => {
    const { name } = await cluster().namespace();
    return { v2: `/apis/autoscaling/v2/namespaces/${name}/horizontalpodautoscalers`, own: version, name };
  };
  const cpu = (averageUtilization: number): Json => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  });

  test('an autoscaler that says nothing wants 80 % of the CPU requested', async () => {
    const { v2 } = await autoscalers();
    const { status, body } = await cluster().post(v2, {
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, maxReplicas: 3 },
    });
    expect(status).toBe(201);
    expect(body['metadata']).toMatchObject({ generation: 1 });
    expect(body['spec']).toEqual({ scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, metrics: [cpu(80)] });
    expect(body['status']).toEqual({ desiredReplicas: 0, currentMetrics: null });
  });

  test('a behavior that is given is completed', async () => {
    const { v2 } = await autoscalers();
    const behavior = { scaleDown: { stabilizationWindowSeconds: 10 } };
    const { body } = await cluster().post(v2, {
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, minReplicas: 2, maxReplicas: 3, metrics: [cpu(50)], behavior },
    });
    const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
    expect(at(body, 'spec', 'behavior')).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
      },
      scaleDown: { stabilizationWindowSeconds: 10, selectPolicy: 'Max', policies: [percent] },
    });
  });

  test.each<[Json, string]>([
    [
      { scaleTargetRef: target, minReplicas: 5, maxReplicas: 3 },
      'spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`',
    ],
    [
      { maxReplicas: 3 },
      '[spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required value, spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group]',
    ],
  ])('the autoscaler %j is refused', async (spec, why) => {
    const { v2 } = await autoscalers();
    const { status, body } = await cluster().post(v2, { metadata: { name: 'a' }, spec });
    expect(status).toBe(422);
    expect(body['message']).toBe(`HorizontalPodAutoscaler.autoscaling "a" is invalid: ${why}`);
  });

  test('autoscaling/v1 shows and takes the CPU target in a field of its own', async () => {
    const { post, get, must } = cluster();
    const { v2 } = await autoscalers();
    const v1 = v2.replace('/v2/', '/v1/');
    await must(
      post(v2, { metadata: { name: 'a' }, spec: { scaleTargetRef: target, maxReplicas: 3, metrics: [cpu(50)] } }),
    );
    expect((await get(`${v1}/a`)).body).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    });
    const spec = { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 70 };
    const made = await post(v1, { metadata: { name: 'b' }, spec });
    expect(made.body['spec']).toEqual({ ...spec, minReplicas: 1 });
    expect(at((await get(`${v2}/b`)).body, 'spec', 'metrics')).toEqual([cpu(70)]);
  });

  test('an autoscaler without its target says so', async () => {
    const { post, get, must, eventually } = cluster();
    const { v2 } = await autoscalers();
    await must(post(v2, { metadata: { name: 'a' }, spec: { scaleTargetRef: target, maxReplicas: 3 } }));
    await eventually(async () => {
      const { body } = await get(`${v2}/a`);
      expect(at(body, 'status', 'conditions')).toEqual([
        {
          type: 'AbleToScale',
          status: 'False',
          lastTransitionTime: expect.any(String),
          reason: 'FailedGetScale',
          message:
            'the HPA controller was unable to get the target\'s current scale: deployments.apps "none" not found',
        },
      ]);
    });
  });

  const template = { metadata: { labels: { a: 'b' } }, spec: { ...podSpec(), restartPolicy: 'Never' } };

  test('a Job gets its defaults', async () => {
    const { name } = await cluster().namespace();
    const { status, body } = await cluster().post(`/apis/batch/v1/namespaces/${name}/jobs`, {
      metadata: { name: 'a' },
      spec: { suspend: true, template },
    });
    expect(status).toBe(201);
    expect(body['spec']).toMatchObject({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: true,
      podReplacementPolicy: 'TerminatingOrFailed',
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 30 },
      },
    });
  });

  test('a CronJob gets its defaults', async () => {
    const { name } = await cluster().namespace();
    const { status, body } = await cluster().post(`/apis/batch/v1/namespaces/${name}/cronjobs`, {
      metadata: { name: 'a' },
      spec: { suspend: true, schedule: '0 * * * *', jobTemplate: { spec: { template } } },
    });
    expect(status).toBe(201);
    expect(body['metadata']).toMatchObject({ generation: 1 });
    expect(body['spec']).toMatchObject({
      schedule: '0 * * * *',
      concurrencyPolicy: 'Allow',
      suspend: true,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: { spec: { template: { spec: { dnsPolicy: 'ClusterFirst' } } } },
    });
  });

  test.each<[string, string, (template: Json) => Json]>([
    ['jobs', 'spec.template.spec', (pods) => ({ template: pods })],
    [
      'cronjobs',
      'spec.jobTemplate.spec.template.spec',
      (pods) => ({ schedule: '0 * * * *', jobTemplate: { spec: { template: pods } } }),
    ],
  ])('the pods of %s need containers and an end', async (plural, path, spec) => {
    const { name } = await cluster().namespace();
    const { status, body } = await cluster().post(`/apis/batch/v1/namespaces/${name}/${plural}`, {
      metadata: { name: 'a' },
      spec: spec({ spec: { containers: [] } }),
    });
    expect(status).toBe(422);
    expect(at(body, 'details', 'causes')).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: `${path}.containers` },
      {
        reason: 'FieldValueRequired',
        message: 'Required value: valid values: "OnFailure", "Never"',
        field: `${path}.restartPolicy`,
      },
    ]);
  });

  test('the pods of a Job stay where its deletion does not say what becomes of them', async () => {
    const { post, delete: remove, must, namespace } = cluster();
    const { name } = await namespace();
    const jobs = `/apis/batch/v1/namespaces/${name}/jobs`;
    await must(post(jobs, { metadata: { name: 'a' }, spec: { suspend: true, template } }));
    const { body } = await remove(`${jobs}/a`);
    expect(at(body, 'metadata', 'finalizers')).toEqual(['orphan']);
  });
});
