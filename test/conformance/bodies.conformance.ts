import { describe, expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { workload } from './objects.ts';
import { field, protobufBody } from './protobuf-body.ts';

const contentType = 'application/vnd.kubernetes.protobuf';

describeOnBackends('bodies in protobuf', (cluster) => {
  const metadata = (name: string) => field(1, [field(1, name)]);

  test('make objects, as those of kubectl create do', async () => {
    const { call, namespace } = cluster();
    const { name, configMaps } = await namespace();
    const data = [field(2, [field(1, 'key'), field(2, 'value')]), field(2, [field(1, 'none'), field(2, '')])];
    const map = await call('POST', configMaps, {
      text: protobufBody('v1', 'ConfigMap', [metadata('a'), ...data]),
      contentType,
    });
    expect([map.status, map.body['data']]).toEqual([201, { key: 'value', none: '' }]);
    const rule = [field(1, 'get'), field(1, 'list'), field(2, ''), field(3, 'pods')];
    const role = await call('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/roles`, {
      text: protobufBody('rbac.authorization.k8s.io/v1', 'Role', [metadata('a'), field(2, rule)]),
      contentType,
    });
    expect(role.body['rules']).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]);
    const hard = ([key, amount]: readonly [string, string]) => field(1, [field(1, key), field(2, [field(1, amount)])]);
    const quota = await call('POST', `/api/v1/namespaces/${name}/resourcequotas`, {
      text: protobufBody('v1', 'ResourceQuota', [
        metadata('a'),
        field(2, [hard(['cpu', '1500m']), hard(['pods', '10'])]),
      ]),
      contentType,
    });
    expect(at(quota.body, 'spec')).toEqual({ hard: { cpu: '1500m', pods: '10' } });
  });

  test('make pods, with ports of names and fields that stand elsewhere than in JSON', async () => {
    const { call, namespace } = cluster();
    const { pods } = await namespace();
    const probe = field(11, [
      field(1, [field(3, [field(1, [field(1, 1), field(2, 0), field(3, 'http')])])]),
      field(3, 5),
    ]);
    const container = field(2, [field(1, 'main'), field(2, 'image:1'), probe]);
    const volume = field(1, [field(1, 'config'), field(2, [field(6, [field(1, 'settings')])])]);
    const { status, body } = await call('POST', pods, {
      text: protobufBody('v1', 'Pod', [metadata('a'), field(2, [volume, container])]),
      contentType,
    });
    expect(status).toBe(201);
    expect(at(body, 'spec')).toMatchObject({
      containers: [{ name: 'main', readinessProbe: { tcpSocket: { port: 'http' }, timeoutSeconds: 5 } }],
      volumes: expect.arrayContaining([{ name: 'config', secret: { secretName: 'settings', defaultMode: 420 } }]),
    });
  });

  test('that are none are 400', async () => {
    const { call, namespace } = cluster();
    const { configMaps } = await namespace();
    for (const text of ['{}', 'k8s\0\x0a\x7f', protobufBody('v1', 'ConfigMap', [field(1, 5)])])
      expect((await call('POST', configMaps, { text, contentType })).status).toBe(400);
  });
});

describeOnBackends('values of another type', (cluster) => {
  const merged = async (part: object) => {
    const { apply, namespace } = cluster();
    const { deployments, name } = await namespace();
    const configuration = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', namespace: name } };
    const { status, body } = await apply(`${deployments}/a?fieldManager=one`, { ...configuration, ...part });
    return [status, String(body['message']).replaceAll(`${name}/a`, 'a')];
  };
  const container = (more: object) => ({ spec: { template: { spec: { containers: [{ name: 'main', ...more }] } } } });
  const untyped = 'failed to create typed patch object (a; apps/v1, Kind=Deployment): ';
  const main = '.spec.template.spec.containers[name="main"]';

  describe('in server-side apply are 500, with their place', () => {
    test.each<[string, object, string]>([
      [
        'a text for a number',
        { spec: { replicas: 'two' } },
        '.spec.replicas: expected numeric (int or float), got string',
      ],
      [
        'a number for a text',
        container({ image: 7 }),
        `${main}.image: expected string, got &value.valueUnstructured{Value:7}`,
      ],
      [
        'a large number for a text',
        container({ image: 12_345_678 }),
        `${main}.image: expected string, got &value.valueUnstructured{Value:12345678}`,
      ],
      [
        'numbers for a map',
        { spec: { selector: [1_234_567, 1_234_567.5, 0.00001, 1e20] } },
        '.spec.selector: expected map, got &{[1234567 1.2345675e+06 1e-05 1e+20]}',
      ],
      ['a text for yes or no', container({ tty: 'yes' }), `${main}.tty: expected boolean, got &{yes}`],
      ['a list for a map', { spec: { selector: ['a'] } }, '.spec.selector: expected map, got &{[a]}'],
      [
        'a map for a list',
        container({ ports: { a: 1, b: [true, null] } }),
        `${main}.ports: expected list, got &{map[a:1 b:[true <nil>]]}`,
      ],
      [
        'a map for an amount',
        container({ resources: { requests: { cpu: {} } } }),
        `${main}.resources.requests.cpu: expected any scalar, got &{map[]}`,
      ],
      ['a text for an object', { spec: 'x' }, '.spec: expected map, got &{x}'],
      ['a field nobody knows', { spec: { replica: 1 } }, '.spec.replica: field not declared in schema'],
      [
        'an item of another type',
        { spec: { template: { spec: { containers: ['a'] } } } },
        '.spec.template.spec.containers: element 0: associative list with keys may not have non-map elements',
      ],
      [
        'an item that is none',
        { spec: { template: { spec: { containers: [null] } } } },
        '.spec.template.spec.containers: element 0: associative list with keys may not have a null element',
      ],
      [
        'an item twice',
        container({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }] }),
        `${main}.ports: duplicate entries for key [containerPort=80,protocol="TCP"]`,
      ],
      [
        'a finalizer twice',
        { metadata: { name: 'a', finalizers: ['a/b', 'a/b'] } },
        '.metadata.finalizers: duplicate entries for key [="a/b"]',
      ],
      [
        'a label that is a number',
        { metadata: { name: 'a', labels: { a: 1.5 } } },
        '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:1.5}',
      ],
    ])('%s', async (_, part, problem) => {
      const [status, message] = await merged(part);
      expect([status, String(message).replace('(/a;', '(a;')]).toEqual([500, `${untyped}${problem}`]);
    });

    test.each<[string, object, string]>([
      ['a part of a replica', { spec: { replicas: 2.5 } }, 'cannot convert float64 to int32'],
      [
        'yes for an amount',
        container({ resources: { requests: { cpu: true } } }),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ],
      [
        'a share that is a list',
        { spec: { strategy: { rollingUpdate: { maxSurge: [1] } } } },
        'json: cannot unmarshal array into Go value of type int32',
      ],
      [
        'a time that is none',
        { metadata: { name: 'a', creationTimestamp: 'x' } },
        'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
      ],
    ])('%s, once it is merged', async (_, part, problem) => {
      const [status, message] = await merged(part);
      const unconverted =
        'failed to convert new object (a; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, Kind=Deployment: ';
      expect([status, String(message).replace('(/a;', '(a;')]).toEqual([500, `${unconverted}${problem}`]);
    });
  });

  describe('in a strategic patch are 422, and the patch is told', () => {
    test.each<[object, string, string]>([
      [{ spec: { replicas: 'two' } }, 'map[spec:map[replicas:two]]', 'unrecognized type: int32'],
      [
        { spec: { minReadySeconds: 1_234_567, replicas: 1_234_567.5 } },
        'map[spec:map[minReadySeconds:1234567 replicas:1.2345675e+06]]',
        'cannot convert float64 to int32',
      ],
      [{ spec: { replicas: 2.5 } }, 'map[spec:map[replicas:2.5]]', 'cannot convert float64 to int32'],
      [{ metadata: { labels: 7 } }, 'map[metadata:map[labels:7]]', 'cannot restore map from int64'],
      [
        { metadata: { annotations: { a: 1 } } },
        'map[metadata:map[annotations:map[a:1]]]',
        'cannot convert int64 to string',
      ],
      [
        { metadata: { annotations: { a: true } } },
        'map[metadata:map[annotations:map[a:true]]]',
        'unrecognized type: string',
      ],
      [{ metadata: { finalizers: 'x' } }, 'map[metadata:map[finalizers:x]]', 'cannot restore slice from string'],
      [{ spec: [] }, 'map[spec:[]]', 'cannot restore struct from: slice'],
    ])('%j', async (patch, told, problem) => {
      const { post, must, strategicPatch, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, workload('a', 0)));
      const { status, body } = await strategicPatch(`${deployments}/a`, patch);
      expect([status, body['message']]).toEqual([422, ` "" is invalid: patch: Invalid value: "${told}": ${problem}`]);
    });
  });
});
