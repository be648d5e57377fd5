import { expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { expectCauses } from './expect-causes.ts';
import { pod, podSpec } from './objects.ts';

describeOnBackends('validation of pods', (cluster) => {
  test('a pod needs containers', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const answer = await post(pods, { metadata: { name: 'a' }, spec: { containers: [] } });
    expectCauses(answer, [{ field: 'spec.containers', reason: 'FieldValueRequired' }]);
    expect(answer.body['message']).toBe('Pod "a" is invalid: spec.containers: Required value');
  });

  test('a request may not exceed its limit', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    expectCauses(await post(pods, pod('a', { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })), [
      {
        field: 'spec.containers[0].resources.requests',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "2": must be less than or equal to cpu limit of 1',
      },
    ]);
  });

  test('the name of a port is a short one, in lower case', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const container = { name: 'main', image: 'example.test/app:1' };
    const named = (name: string) => ({
      metadata: { name: 'a' },
      spec: { ...podSpec(), containers: [{ ...container, ports: [{ name, containerPort: 80 }] }] },
    });
    const field = 'spec.containers[0].ports[0].name';
    const invalid = (name: string, problem: string) => ({ field, message: `Invalid value: "${name}": ${problem}` });
    const letters = 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
    expectCauses(await post(pods, named('Http_1')), [invalid('Http_1', letters)]);
    expectCauses(await post(pods, named('metrics-of-the-shop')), [
      invalid('metrics-of-the-shop', 'must be no more than 15 characters'),
    ]);
    expectCauses(await post(pods, named('80--')), [
      invalid('80--', 'must contain at least one letter (a-z)'),
      invalid('80--', 'must not contain consecutive hyphens'),
      invalid('80--', 'must not begin or end with a hyphen'),
    ]);
  });

  test('probes and hooks have one way to ask, and know where', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const container = (more: object) => ({
      metadata: { name: 'a' },
      spec: { ...podSpec(), containers: [{ name: 'main', image: 'example.test/app:1', ...more }] },
    });
    const at = 'spec.containers[0]';
    const two = { httpGet: { port: 80 }, tcpSocket: { port: 1 } };
    expectCauses(await post(pods, container({ livenessProbe: {}, readinessProbe: two, startupProbe: { exec: {} } })), [
      { field: `${at}.livenessProbe`, message: 'Required value: must specify a handler type' },
      { field: `${at}.readinessProbe.tcpSocket`, message: 'Forbidden: may not specify more than 1 handler type' },
      { field: `${at}.startupProbe.exec.command`, message: 'Required value' },
    ]);
    const liveness = { httpGet: { port: 0 }, periodSeconds: -1, successThreshold: 2, terminationGracePeriodSeconds: 0 };
    const readiness = { grpc: { port: 70_000 }, terminationGracePeriodSeconds: 5 };
    const lifecycle = { preStop: {}, postStart: { tcpSocket: { port: 'A' } } };
    const range = 'must be between 1 and 65535, inclusive';
    expectCauses(await post(pods, container({ livenessProbe: liveness, readinessProbe: readiness, lifecycle })), [
      {
        field: `${at}.lifecycle.postStart.tcpSocket.port`,
        message: 'Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      },
      {
        field: `${at}.lifecycle.postStart.tcpSocket.port`,
        message: 'Invalid value: "A": must contain at least one letter (a-z)',
      },
      { field: `${at}.lifecycle.preStop`, message: 'Required value: must specify a handler type' },
      { field: `${at}.livenessProbe.httpGet.port`, message: `Invalid value: 0: ${range}` },
      { field: `${at}.livenessProbe.periodSeconds`, message: 'Invalid value: -1: must be greater than or equal to 0' },
      {
        field: `${at}.livenessProbe.terminationGracePeriodSeconds`,
        message: 'Invalid value: 0: must be greater than 0',
      },
      { field: `${at}.livenessProbe.successThreshold`, message: 'Invalid value: 2: must be 1' },
      { field: `${at}.readinessProbe.grpc.port`, message: `Invalid value: 70000: ${range}` },
      {
        field: `${at}.readinessProbe.terminationGracePeriodSeconds`,
        message: 'Invalid value: 5: must not be set for readinessProbes',
      },
    ]);
  });

  test('policies of restarts and names are told in their order', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const spec = { ...podSpec(), restartPolicy: 'Sometimes', dnsPolicy: 'Odd' };
    expectCauses(await post(pods, { metadata: { name: 'a' }, spec }), [
      {
        field: 'spec.restartPolicy',
        message: 'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      },
      {
        field: 'spec.dnsPolicy',
        message:
          'Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      },
    ]);
  });

  test('probes and restarts for a resize are for sidecars, not for init containers that end', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const own = {
      readinessProbe: { exec: { command: ['true'] } },
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
    };
    const withInit = (init: object) => {
      const { metadata, spec } = pod('a');
      return {
        metadata,
        spec: { ...Object(spec), initContainers: [{ name: 'init', image: 'example.test/app:1', ...own, ...init }] },
      };
    };
    expectCauses(await post(pods, withInit({})), [
      {
        field: 'spec.initContainers[0].readinessProbe',
        message: 'Forbidden: may not be set for init containers without restartPolicy=Always',
      },
      {
        field: 'spec.initContainers[0].resizePolicy[0].restartPolicy',
        message: `Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
      },
    ]);
    expect((await post(pods, withInit({ restartPolicy: 'Always' }))).status).toBe(201);
  });

  test('what is not a quantity is 400', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const { status, body } = await post(pods, pod('a', { resources: { requests: { cpu: 'abc' } } }));
    expect(status).toBe(400);
    expect(body['message']).toContain('quantities must match the regular expression');
  });

  test.each([
    ['node', { nodeName: 'another' }],
    ['scheduler', { schedulerName: 'another' }],
    ['grace period', { terminationGracePeriodSeconds: 3 }],
    ['priority', { priority: 5 }],
    ['node selector', { nodeSelector: { a: 'b' } }],
  ])('the %s of a pod cannot be changed', async (_, spec) => {
    const { post, mergePatch, must, namespace } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a')));
    const answer = await mergePatch(`${pods}/a`, { spec });
    expect(answer.status).toBe(422);
    expect(at(answer.body, 'details', 'causes', 0)).toMatchObject({
      field: 'spec',
      reason: 'FieldValueForbidden',
      message: expect.stringContaining('pod updates may not change fields other than `spec.containers[*].image`'),
    });
  });

  test('resources of a pod cannot be changed outside the resize subresource', async () => {
    const { post, strategicPatch, must, namespace } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a', { resources: { requests: { cpu: '1' } } })));
    const answer = await strategicPatch(`${pods}/a`, {
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] },
    });
    expectCauses(answer, [{ field: 'spec', reason: 'FieldValueForbidden' }]);
  });

  test('the image and an added toleration of a pod can be changed, and count as a generation', async () => {
    const { post, get, strategicPatch, mergePatch, must, namespace } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a')));
    const image = await strategicPatch(`${pods}/a`, {
      spec: { containers: [{ name: 'main', image: 'example.test/app:2' }] },
    });
    expect(image.body).toMatchObject({ metadata: { generation: 2 } });
    const current = at((await get(`${pods}/a`)).body, 'spec', 'tolerations');
    const more = { key: 'test.io/a', operator: 'Exists', effect: 'NoSchedule' };
    const tolerations = [...(Array.isArray(current) ? current : []), more];
    expect((await mergePatch(`${pods}/a`, { spec: { tolerations } })).body).toMatchObject({
      metadata: { generation: 3 },
    });
    // Admission puts the two default tolerations back; one of the pod's own cannot be taken away.
    expect((await mergePatch(`${pods}/a`, { spec: { tolerations: [more] } })).status).toBe(200);
    expect((await mergePatch(`${pods}/a`, { spec: { tolerations: [] } })).status).toBe(422);
  });

  test('two containers of one name are refused', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const [container] = [at(podSpec(), 'containers', 0)];
    expectCauses(await post(pods, { metadata: { name: 'a' }, spec: { containers: [container, container] } }), [
      { field: 'spec.containers[1].name', reason: 'FieldValueDuplicate' },
    ]);
  });
});
