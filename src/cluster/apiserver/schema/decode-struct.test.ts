import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { decodeStruct, zeroStruct } from './decode-struct.ts';
import { type StructType, structOf } from './struct-types.ts';

function struct(kind: string, group = '', version = 'v1'): StructType {
  const found = structOf({ group, version, kind });
  if (found === undefined) throw new Error(`no struct ${kind}`);
  return found;
}
const POD = struct('Pod');
const DEPLOYMENT = struct('Deployment', 'apps');
const read = (body: JsonObject, type = POD) => decodeStruct(body, type);
const container = (more: JsonObject): JsonObject => ({ spec: { containers: [{ name: 'a', ...more }] } });

describe('a body', () => {
  test('loses fields nobody knows, and tells them in the order in which they stand', () => {
    const { object, unknown } = read({ spec: { containers: [{ name: 'a', imge: 'x' }], Replicas: 1 }, extra: {} });
    expect(object).toMatchObject({ spec: { containers: [{ name: 'a', resources: {} }] } });
    expect(JSON.stringify(object)).not.toMatch(/imge|Replicas|extra/);
    expect(unknown).toEqual(['spec.containers[0].imge', 'spec.Replicas', 'extra']);
  });

  test('tells a hundred fields nobody knows, however many there are', () => {
    const odd = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`odd${index}`, 1]));
    const { object, unknown } = read(odd);
    expect(object).toEqual(read({}).object);
    expect(unknown).toEqual(Array.from({ length: 100 }, (_, index) => `odd${index}`));
  });

  test('keeps no empty values, but what is always there', () => {
    const { object } = read({
      metadata: { name: 'a', labels: {}, annotations: null, finalizers: [], creationTimestamp: null },
      spec: { containers: [{ name: 'a', image: '', tty: false }], hostNetwork: false, nodeSelector: {}, priority: 0 },
    });
    expect(object).toEqual({
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', resources: {} }], priority: 0 },
      status: {},
    });
    expect(read({}, struct('Role', 'rbac.authorization.k8s.io')).object).toEqual({ metadata: {}, rules: null });
    expect(zeroStruct(DEPLOYMENT)).toEqual({
      metadata: {},
      spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
      status: {},
    });
  });

  test('has amounts and times in their one form', () => {
    const { object } = read(container({ resources: { requests: { cpu: 0.5, memory: '1.5Gi' } } }));
    expect(object).toMatchObject({
      spec: { containers: [{ resources: { requests: { cpu: '500m', memory: '1536Mi' } } }] },
    });
  });

  test.each([
    ['2026-01-01T01:00:00.5+01:00', '2026-01-01T00:00:00Z'],
    ['2026-12-28T23:59:59Z', '2026-12-28T23:59:59Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('the time %s is %s', (creationTimestamp, expected) => {
    expect(read({ metadata: { creationTimestamp } }).object).toMatchObject({
      metadata: { creationTimestamp: expected },
    });
  });

  test.each(['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z', '2026-01-01T25:00:00Z'])(
    '%s is no time',
    (creationTimestamp) => {
      expect(read({ metadata: { creationTimestamp } }).problem).toContain('parsing time');
    },
  );

  test('shares what is stored unchanged', () => {
    const stored = read(container({ image: 'x' })).object;
    const again = decodeStruct({ ...stored, metadata: { name: 'b' } }, POD, stored);
    expect(again.object['spec']).toBe(stored['spec']);
  });

  test.each<[string, JsonObject, string]>([
    [
      'a text for a number',
      { spec: { priority: '1' } },
      'cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32',
    ],
    [
      'a fraction',
      { spec: { priority: 1.5 } },
      'cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32',
    ],
    [
      'too much',
      { spec: { priority: 2_147_483_648 } },
      'cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority of type int32',
    ],
    [
      'a number for a text',
      container({ image: 5 }),
      'cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
    ],
    [
      'a named text',
      container({ imagePullPolicy: true }),
      'cannot unmarshal bool into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy',
    ],
    ['a list for a struct', { spec: [] }, 'cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec'],
    [
      'a struct for a list',
      { spec: { containers: {} } },
      'cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      'a number as label',
      { metadata: { labels: { a: 5 } } },
      'cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      'a list for a map',
      { metadata: { labels: [] } },
      'cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      'no amount',
      container({ resources: { limits: { cpu: 'much' } } }),
      'quantities must match the regular expression',
    ],
    [
      'an amount with a suffix that is none',
      container({ resources: { limits: { cpu: '1mi' } } }),
      "unable to parse quantity's suffix",
    ],
    [
      'an amount of more digits than anybody means',
      container({ resources: { limits: { cpu: '1'.repeat(3_000_000) } } }),
      'quantities must match the regular expression',
    ],
    [
      'no time',
      { metadata: { creationTimestamp: 'yesterday' } },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
  ])('with %s has a problem', (_, body, problem) => {
    expect(read(body).problem).toContain(problem);
  });

  test('with several problems tells the first, and before all others what ends the reading', () => {
    const wrong = { spec: { priority: 'x', nodeName: 5 } };
    expect(read(wrong).problem).toContain('spec.priority');
    expect(read({ ...wrong, metadata: { creationTimestamp: 'x' } }).problem).toContain('parsing time');
  });
});

describe('structs', () => {
  test('say how lists and maps merge', () => {
    const spec = POD.fields.get('spec')?.type;
    const fields = spec?.kind === 'struct' ? spec.struct.fields : undefined;
    expect(fields?.get('containers')).toMatchObject({ listKeys: ['name'], mergeKey: 'name', goType: '[]v1.Container' });
    expect(fields?.get('tolerations')).not.toHaveProperty('listKeys');
    expect(fields?.get('nodeSelector')?.isAtomic).toBe(true);
    expect(fields?.get('restartPolicy')).toMatchObject({
      goType: 'v1.RestartPolicy',
      isPointer: false,
      omitsEmpty: true,
    });
    expect(structOf({ group: 'example.com', version: 'v1', kind: 'Pod' })).toBeUndefined();
  });
});
