import { describe, expect, test } from 'vitest';
import { isObject } from '../json.ts';
import { decodeProtobuf } from './protobuf.ts';

type Part = string | number | bigint | Buffer | readonly Part[];

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest % 128n) + 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** A field: numbers as such, texts and messages (lists of parts) after their length. */
function field(number: number, content: Part): Buffer {
  if (typeof content === 'number' || typeof content === 'bigint')
    return Buffer.concat([varint(BigInt(number * 8)), varint(BigInt(content))]);
  const bytes = bytesOf(content);
  return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

function bytesOf(content: Part): Buffer {
  return Array.isArray(content) ? Buffer.concat(content.map(bytesOf)) : Buffer.from(content as string);
}

function envelope(apiVersion: string, kind: string, raw: Part): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), field(1, [field(1, apiVersion), field(2, kind)]), field(2, raw)]);
}

describe('protobuf bodies', () => {
  test('an eviction with grace period, precondition and dry run', () => {
    const options = [field(1, 300), field(2, [field(1, 'uid-1')]), field(5, 'All')];
    const raw = [field(1, [field(1, 'p1'), field(3, 'default'), field(99, 'unknown')]), field(2, options)];
    expect(decodeProtobuf(envelope('policy/v1', 'Eviction', raw))).toEqual({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p1', namespace: 'default' },
      deleteOptions: { gracePeriodSeconds: 300, preconditions: { uid: 'uid-1' }, dryRun: ['All'] },
    });
  });

  test('options of a deletion are of the group of what is deleted', () => {
    expect(decodeProtobuf(envelope('apps/v1', 'DeleteOptions', [field(4, 'Orphan')]))).toMatchObject({
      propagationPolicy: 'Orphan',
    });
  });

  test('maps, lists, amounts, numbers below zero, and fields of embedded structs', () => {
    const entry = (key: string, value: Part) => [field(1, key), field(2, value)];
    const probe = [
      field(1, [field(2, [field(1, '/ready'), field(2, [field(1, 1), field(2, 0), field(3, 'http')])])]),
      field(3, 5),
    ];
    const container = [
      field(1, 'main'),
      field(8, [field(2, entry('cpu', [field(1, '100m')])), field(2, entry('memory', [field(1, '1Gi')]))]),
      field(11, probe),
    ];
    const volume = [field(1, 'config'), field(2, [field(19, [field(1, [field(1, 'settings')])])])];
    const toleration = [field(1, 'a'), field(5, -1n)];
    const raw = [
      field(1, [
        field(1, 'p1'),
        field(8, [field(1, 1_767_225_600)]),
        field(11, entry('app', 'web')),
        field(11, entry('tier', '')),
      ]),
      field(2, [field(1, volume), field(2, container), field(22, toleration), field(11, 1)]),
    ];
    expect(decodeProtobuf(envelope('v1', 'Pod', raw))).toMatchObject({
      metadata: { name: 'p1', creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: 'web', tier: '' } },
      spec: {
        containers: [
          {
            name: 'main',
            resources: { requests: { cpu: '100m', memory: '1Gi' } },
            readinessProbe: { httpGet: { path: '/ready', port: 'http' }, timeoutSeconds: 5 },
          },
        ],
        volumes: [{ name: 'config', configMap: { name: 'settings' } }],
        tolerations: [{ key: 'a', tolerationSeconds: -1 }],
        hostNetwork: true,
      },
    });
  });

  test('bytes, times of microseconds, and a time that is not set', () => {
    const secret = [field(1, [field(8, [])]), field(2, [field(1, 'key'), field(2, Buffer.from([0, 255]))])];
    expect(decodeProtobuf(envelope('v1', 'Secret', secret))).toMatchObject({
      metadata: { creationTimestamp: null },
      data: { key: 'AP8=' },
    });
    const lease = [field(2, [field(4, [field(1, 1_767_225_600), field(2, 123_456_789)])])];
    expect(decodeProtobuf(envelope('coordination.k8s.io/v1', 'Lease', lease))).toMatchObject({
      spec: { renewTime: '2026-01-01T00:00:00.123456Z' },
    });
  });

  test('schemas of custom resources, with what is one thing or another', () => {
    const text = field(5, 'string');
    const property = (name: string, schema: Part) => field(29, [field(1, name), field(2, schema)]);
    const schema = [
      field(5, 'object'),
      property('labels', [field(5, 'object'), field(30, [field(1, 1), field(2, [text])])]),
      property('any', [field(30, [field(1, 1)])]),
      property('none', [field(30, [field(1, 0)])]),
      property('list', [field(5, 'array'), field(24, [field(1, [text])]), field(20, [field(1, '"a"')])]),
      property('pair', [field(24, [field(2, [text]), field(2, [])])]),
    ];
    const version = [field(1, 'v1'), field(4, [field(1, schema)])];
    const crd = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [field(2, [field(7, version)])]);
    const string = { type: 'string' };
    const properties = {
      labels: { type: 'object', additionalProperties: string },
      any: { additionalProperties: true },
      none: { additionalProperties: false },
      list: { type: 'array', items: string, enum: ['a'] },
      pair: { items: [string, {}] },
    };
    expect(decodeProtobuf(crd)).toMatchObject({
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties } } }] },
    });
  });

  test('numbers that come all in one', () => {
    const packed = Buffer.concat([1n, 300n, -1n].map(varint));
    const pod = envelope('v1', 'Pod', field(2, [field(14, [field(4, packed), field(4, 7)])]));
    expect(decodeProtobuf(pod)).toMatchObject({ spec: { securityContext: { supplementalGroups: [1, 300, -1, 7] } } });
  });

  test('as many items as a body has room for', () => {
    const finalizers = Buffer.alloc(600_000, field(14, ''));
    const { metadata } = decodeProtobuf(envelope('v1', 'ConfigMap', field(1, finalizers)));
    expect(isObject(metadata) && metadata['finalizers']).toHaveLength(300_000);
  });

  test.each([
    ['no magic bytes', Buffer.from('{}'), 400],
    ['cut short', envelope('policy/v1', 'Eviction', [field(1, 'x')]).subarray(0, 30), 400],
    ['a number for a text', envelope('v1', 'Pod', [field(1, [field(1, 7)])]), 400],
    ['a text for a number', envelope('v1', 'DeleteOptions', [field(1, 'soon')]), 400],
    ['a number without end', envelope('v1', 'Pod', Buffer.alloc(12, 0xff)), 400],
    ['numbers in one, cut short', envelope('v1', 'Pod', field(2, [field(14, [field(4, '\x01\x80')])])), 400],
    ['a length below zero', envelope('v1', 'Pod', Buffer.concat([varint(10n), varint(-1n)])), 400],
    [
      'numbers in one, without end',
      envelope('v1', 'Pod', field(2, [field(14, [field(4, Buffer.alloc(1_000_000, 0xff))])])),
      400,
    ],
    ['a kind of others', envelope('example.com/v1', 'Boat', []), 415],
  ])('%s is refused', (_, bytes, httpStatus) => {
    expect(() => decodeProtobuf(bytes)).toThrow(expect.objectContaining({ httpStatus }));
  });
});
