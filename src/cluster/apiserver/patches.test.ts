import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalJson, isObject, type Json, type JsonObject, setMember, toJson } from './json.ts';
import { applyJsonPatch, applyMergePatch } from './patch-json.ts';
import { applyStrategicPatch } from './patch-strategic.ts';
import { structOf } from './schema/struct-types.ts';

const json = fc.jsonValue({ maxDepth: 3 }).map(toJson);

/** The merge patch that leads from one value to another. */
function mergeDiff(from: Json, to: Json): Json {
  if (!isObject(from) || !isObject(to)) return to;
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) setMember(patch, key, null);
  for (const [key, value] of Object.entries(to))
    if (value !== undefined && !(Object.hasOwn(from, key) && equalJson(from[key], value)))
      setMember(patch, key, mergeDiff(Object.hasOwn(from, key) ? (from[key] ?? null) : null, value));
  return patch;
}

const hasNull = (value: Json): boolean =>
  value === null ||
  (Array.isArray(value)
    ? false
    : isObject(value) && Object.values(value).some((member) => member === undefined || hasNull(member)));

describe('merge patch', () => {
  test('the difference of any two objects leads from one to the other', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json), (from, to) => {
        // Nulls inside objects cannot be expressed; they mean removal.
        fc.pre(!hasNull(to) && !hasNull(from));
        expect(equalJson(applyMergePatch(from, mergeDiff(from, to)), to)).toBe(true);
      }),
    );
  });

  test('does not change what it is given', () => {
    const target = { a: { b: 1 } };
    expect(applyMergePatch(target, { a: { b: null, c: 2 } })).toEqual({ a: { c: 2 } });
    expect(target).toEqual({ a: { b: 1 } });
  });
});

describe('JSON patch', () => {
  const target = { a: [1, 2, 3], b: { 'x/y': 1, 'm~n': 2 } };

  test.each<[object[], Json]>([
    [[{ op: 'add', path: '/a/1', value: 9 }], { ...target, a: [1, 9, 2, 3] }],
    [[{ op: 'add', path: '/a/-', value: 9 }], { ...target, a: [1, 2, 3, 9] }],
    [
      [
        { op: 'remove', path: '/b/x~1y' },
        { op: 'replace', path: '/b/m~0n', value: 3 },
      ],
      { ...target, b: { 'm~n': 3 } },
    ],
    [[{ op: 'move', from: '/a/0', path: '/b/first' }], { a: [2, 3], b: { ...target.b, first: 1 } }],
    [[{ op: 'copy', from: '/b', path: '/c' }], { ...target, c: target.b }],
    [
      [
        { op: 'test', path: '/a', value: [1, 2, 3] },
        { op: 'add', path: '', value: { whole: true } },
      ],
      { whole: true },
    ],
  ])('%j', (patch, expected) => {
    expect(applyJsonPatch(target, patch)).toEqual(expected);
    expect(target.a).toEqual([1, 2, 3]);
  });

  test.each([
    [[{ op: 'remove', path: '/none' }], 422],
    [[{ op: 'replace', path: '/none', value: 1 }], 422],
    [[{ op: 'add', path: '/a/7', value: 1 }], 422],
    [[{ op: 'add', path: '/a/01', value: 1 }], 422],
    [[{ op: 'test', path: '/a/0', value: 2 }], 422],
    [[{ op: 'add', path: '/__proto__', value: { polluted: true } }], 422],
    [[{ op: 'add', path: 'a', value: 1 }], 422],
    [[{ op: 'explode', path: '/a' }], 422],
    [[{ op: 'add' }], 422],
    [{ a: 1 }, 400],
  ])('%j is refused', (patch, httpStatus) => {
    expect(() => applyJsonPatch(target, patch)).toThrow(expect.objectContaining({ httpStatus }));
    expect('polluted' in {}).toBe(false);
  });
});

describe('strategic merge patch', () => {
  const applyToPod = (original: JsonObject, patch: JsonObject): JsonObject =>
    applyStrategicPatch(original, patch, structOf({ group: '', version: 'v1', kind: 'Pod' }));
  const pod = (containers: object[], more: object = {}): JsonObject =>
    toJson({ kind: 'Pod', spec: { containers, ...more } }) as JsonObject;
  const spec = (result: JsonObject): JsonObject => (isObject(result['spec']) ? result['spec'] : {});

  test('containers, env and volumes merge by name, ports by number, conditions by type; tolerations are replaced', () => {
    const original = pod(
      [
        { name: 'main', image: 'a:1', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80, name: 'web' }] },
        { name: 'side', image: 'b:1' },
      ],
      { tolerations: [{ key: 'x' }], volumes: [{ name: 'v', emptyDir: {} }] },
    );
    const result = applyToPod(original, {
      spec: {
        containers: [
          {
            name: 'main',
            env: [
              { name: 'B', value: '2' },
              { name: 'A', value: '3' },
            ],
            ports: [{ containerPort: 80, protocol: 'UDP' }],
          },
        ],
        tolerations: [{ key: 'y' }],
        volumes: [{ name: 'w', emptyDir: {} }],
      },
    });
    expect(spec(result)).toEqual({
      containers: [
        {
          name: 'main',
          image: 'a:1',
          env: [
            { name: 'B', value: '2' },
            { name: 'A', value: '3' },
          ],
          ports: [{ containerPort: 80, name: 'web', protocol: 'UDP' }],
        },
        { name: 'side', image: 'b:1' },
      ],
      tolerations: [{ key: 'y' }],
      volumes: [
        { name: 'w', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    });
  });

  test.each<[string, JsonObject, Json]>([
    [
      '$patch: delete in a list',
      { spec: { containers: [{ name: 'a', $patch: 'delete' }] } },
      { containers: [{ name: 'b' }], nodeSelector: { x: '1' } },
    ],
    [
      '$patch: replace of a list',
      { spec: { containers: [{ $patch: 'replace' }, { name: 'c' }] } },
      { containers: [{ name: 'c' }], nodeSelector: { x: '1' } },
    ],
    [
      '$patch: replace of a map',
      { spec: { nodeSelector: { $patch: 'replace', y: '2' } } },
      { containers: [{ name: 'a' }, { name: 'b' }], nodeSelector: { y: '2' } },
    ],
    [
      '$patch: delete of a map',
      { spec: { nodeSelector: { $patch: 'delete' } } },
      { containers: [{ name: 'a' }, { name: 'b' }], nodeSelector: {} },
    ],
    ['$retainKeys', { spec: { $retainKeys: ['containers'] } }, { containers: [{ name: 'a' }, { name: 'b' }] }],
    [
      '$setElementOrder alone',
      { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
      { containers: [{ name: 'b' }, { name: 'a' }], nodeSelector: { x: '1' } },
    ],
    ['null', { spec: { nodeSelector: null } }, { containers: [{ name: 'a' }, { name: 'b' }] }],
  ])('%s', (_, patch, expected) => {
    expect(spec(applyToPod(pod([{ name: 'a' }, { name: 'b' }], { nodeSelector: { x: '1' } }), patch))).toEqual(
      expected,
    );
  });

  test('finalizers merge as a set, and can be taken out one by one', () => {
    const original = { metadata: { finalizers: ['a', 'b'] } };
    expect(applyToPod(original, { metadata: { finalizers: ['b', 'c'] } })).toEqual({
      metadata: { finalizers: expect.arrayContaining(['a', 'b', 'c']) },
    });
    expect(applyToPod(original, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } })).toEqual({
      metadata: { finalizers: ['b'] },
    });
  });

  test("a budget's selector is replaced whole", () => {
    const budget = { kind: 'PodDisruptionBudget', spec: { selector: { matchLabels: { a: '1' } } } };
    const struct = structOf({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' });
    expect(applyStrategicPatch(budget, { spec: { selector: { matchLabels: { b: '2' } } } }, struct)).toEqual({
      ...budget,
      spec: { selector: { matchLabels: { b: '2' } } },
    });
  });

  test('items without their key, and unknown directives, are refused', () => {
    expect(() => applyToPod(pod([{ name: 'a' }]), { spec: { containers: [{ image: 'x' }] } })).toThrow(
      'does not contain declared merge key: name',
    );
    expect(() => applyToPod(pod([]), { spec: { $patch: 'merge-all' } })).toThrow('unrecognized patch directive');
  });
});
