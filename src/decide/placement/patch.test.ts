import { describe, expect, test } from 'vitest';
import type { SidePin } from '../../model/placement-settings.ts';
import type { Toleration } from '../../model/records.ts';
import { aTemplate } from '../../model/testing/records.ts';
import type { AdmissionPod } from './admission-pod.ts';
import { buildPatch, escapePointer } from './patch.ts';
import { anAdmissionPod } from './testing/world.ts';

const none = { annotations: false, nodeSelector: false, affinity: false, nodeAffinity: false, tolerations: false };
const KEY = 'karpenter.sh/capacity-type';
const spot: SidePin = { kind: 'nodeSelector', key: KEY, value: 'spot' };
const notSpot: SidePin = {
  kind: 'affinity',
  terms: [{ expressions: [{ key: 'gke-spot', operator: 'NotIn', values: ['true'] }], fields: [] }],
};
const patchOf = (pod: Partial<AdmissionPod>, pin: SidePin | undefined, tolerations: readonly Toleration[] = []) =>
  buildPatch(anAdmissionPod({ has: none, ...pod }), { pin, tolerations, stamps: {} }).filter(
    ({ path }) => path !== '/metadata/annotations',
  );

describe('escapePointer', () => {
  test.each([
    ['~/path', '~0~1path'],
    ['example.com/team~alpha', 'example.com~1team~0alpha'],
    ['karpenter.sh/capacity-type', 'karpenter.sh~1capacity-type'],
    ['~1', '~01'],
    ['plain', 'plain'],
  ])('case 21: %s becomes %s', (key, expected) => {
    expect(escapePointer(key)).toBe(expected);
  });
});

test('bug 12: a side is always said as a requirement, never as a preference', () => {
  for (const pin of [spot, notSpot])
    for (const operation of patchOf({}, pin)) expect(JSON.stringify(operation)).not.toContain('preferred');
});

describe('a pin as node selector', () => {
  test('case 20: no node selector: the map is added', () => {
    expect(patchOf({}, spot)).toEqual([{ op: 'add', path: '/spec/nodeSelector', value: { [KEY]: 'spot' } }]);
  });

  test('case 20: an existing one, even an empty one: the escaped member is added', () => {
    expect(patchOf({ has: { ...none, nodeSelector: true } }, spot)).toEqual([
      { op: 'add', path: '/spec/nodeSelector/karpenter.sh~1capacity-type', value: 'spot' },
    ]);
  });
});

describe('a pin as required node affinity', () => {
  const required = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution';
  const term = { matchExpressions: [{ key: 'gke-spot', operator: 'NotIn', values: ['true'] }] };

  test('is added with whichever parents are missing', () => {
    const selector = { nodeSelectorTerms: [term] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: selector };
    expect(patchOf({}, notSpot)).toEqual([{ op: 'add', path: '/spec/affinity', value: { nodeAffinity } }]);
    expect(patchOf({ has: { ...none, affinity: true } }, notSpot)).toEqual([
      { op: 'add', path: '/spec/affinity/nodeAffinity', value: nodeAffinity },
    ]);
    expect(patchOf({ has: { ...none, affinity: true, nodeAffinity: true } }, notSpot)).toEqual([
      { op: 'add', path: required, value: selector },
    ]);
  });

  test('hazard H18: is ANDed into every existing term, which are ORed; fields are kept', () => {
    const a = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] };
    const b = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] };
    const has = { ...none, affinity: true, nodeAffinity: true };
    expect(patchOf({ has, requiredTerms: [a, b] }, notSpot)[0]?.value).toEqual({
      nodeSelectorTerms: [
        { matchExpressions: [...a.matchExpressions, ...term.matchExpressions] },
        { ...b, matchExpressions: term.matchExpressions },
      ],
    });
  });

  test('an empty term matches nothing and must not begin to', () => {
    const has = { ...none, affinity: true, nodeAffinity: true };
    expect(patchOf({ has, requiredTerms: [{}, { matchExpressions: [] }] }, notSpot)[0]?.value).toEqual({
      nodeSelectorTerms: [{}, { matchExpressions: [] }],
    });
  });

  test('bug 13: two labels for one side: every combination of the user’s terms and the pin’s', () => {
    const either: SidePin = {
      kind: 'affinity',
      terms: ['k', 'e'].map((key) => ({ expressions: [{ key, operator: 'In', values: ['spot'] }], fields: [] })),
    };
    const has = { ...none, affinity: true, nodeAffinity: true };
    const zones = ['a', 'b'].map((value) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }));
    const [operation] = patchOf({ has, requiredTerms: zones }, either);
    expect(JSON.stringify(operation?.value).match(/"zone"/g)).toHaveLength(4);
  });

  test('Exists and DoesNotExist carry no values', () => {
    const exists: SidePin = {
      kind: 'affinity',
      terms: [{ expressions: [{ key: 'spot', operator: 'Exists', values: [] }], fields: [] }],
    };
    expect(JSON.stringify(patchOf({}, exists))).toContain('{"key":"spot","operator":"Exists"}');
  });
});

describe('tolerations', () => {
  const aks: Toleration = { key: 'priority', operator: 'Equal', value: 'spot', effect: 'NoSchedule' };
  const cast: Toleration = { key: 'cast', operator: 'Exists', value: '', effect: '' };
  const withTolerations = (...tolerations: Toleration[]): Partial<AdmissionPod> => ({
    has: { ...none, tolerations: true },
    template: aTemplate({ tolerations }),
  });

  test('hazard H19: are added as a list, or at the end of the list', () => {
    expect(patchOf({}, undefined, [aks, cast])).toEqual([
      {
        op: 'add',
        path: '/spec/tolerations',
        value: [
          { key: 'priority', operator: 'Equal', value: 'spot', effect: 'NoSchedule' },
          { key: 'cast', operator: 'Exists' },
        ],
      },
    ]);
    expect(patchOf(withTolerations(), undefined, [aks])).toEqual([
      {
        op: 'add',
        path: '/spec/tolerations/-',
        value: { key: 'priority', operator: 'Equal', value: 'spot', effect: 'NoSchedule' },
      },
    ]);
  });

  test.each<[string, Toleration, boolean]>([
    ['the same one', aks, true],
    ['one for every effect', { ...aks, effect: '' }, true],
    ['one for every value', { ...aks, operator: 'Exists', value: '' }, true],
    ['one for everything', { key: '', operator: 'Exists', value: '', effect: '' }, true],
    ['one for another value', { ...aks, value: 'regular' }, false],
    ['one for another effect', { ...aks, effect: 'NoExecute' }, false],
    ['one for another key', { ...aks, key: 'other' }, false],
  ])('hazard H19: once: %s makes it unnecessary: %s', (_, existing, isEnough) => {
    expect(patchOf(withTolerations(existing), undefined, [aks])).toHaveLength(isEnough ? 0 : 1);
  });

  test('one for a single value or effect does not stand for all of them', () => {
    expect(patchOf(withTolerations({ ...cast, operator: 'Equal', value: 'x' }), undefined, [cast])).toHaveLength(1);
    expect(patchOf(withTolerations({ ...cast, effect: 'NoSchedule' }), undefined, [cast])).toHaveLength(1);
    expect(patchOf(withTolerations(cast), undefined, [cast])).toHaveLength(0);
  });
});

describe('stamps', () => {
  const stamps = { 'spotalis.io/slot': '1', 'spotalis.io/capacity': 'spot' };

  test('are added with the map where there is none, else one by one', () => {
    const content = { pin: undefined, tolerations: [], stamps };
    expect(buildPatch(anAdmissionPod({ has: none }), content)).toEqual([
      { op: 'add', path: '/metadata/annotations', value: stamps },
    ]);
    expect(buildPatch(anAdmissionPod({ has: { ...none, annotations: true } }), content)).toEqual([
      { op: 'add', path: '/metadata/annotations/spotalis.io~1slot', value: '1' },
      { op: 'add', path: '/metadata/annotations/spotalis.io~1capacity', value: 'spot' },
    ]);
  });
});

describe('pools that are avoided', () => {
  const avoid = [{ key: 'a/m5', zone: 'a', instanceTypes: [], why: 'it lost too many' }];
  const preference = {
    weight: 100,
    preference: { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['a'] }] },
  };
  const list = 'preferredDuringSchedulingIgnoredDuringExecution';
  const patchOf = (has: Partial<AdmissionPod['has']>, pin?: SidePin) =>
    buildPatch(anAdmissionPod({ has: { ...none, ...has } }), { pin, tolerations: [], stamps: {}, avoid }).filter(
      ({ path }) => path.startsWith('/spec/affinity'),
    );

  test.each<[string, Partial<AdmissionPod['has']>, string, unknown]>([
    ['nothing', {}, '/spec/affinity', { nodeAffinity: { [list]: [preference] } }],
    ['pod affinity', { affinity: true }, '/spec/affinity/nodeAffinity', { [list]: [preference] }],
    ['node affinity', { affinity: true, nodeAffinity: true }, `/spec/affinity/nodeAffinity/${list}`, [preference]],
    [
      'preferences of its own, which stay',
      { affinity: true, nodeAffinity: true, preferences: true },
      `/spec/affinity/nodeAffinity/${list}/-`,
      preference,
    ],
  ])('a pod with %s', (_, has, path, value) => {
    expect(patchOf(has)).toEqual([{ op: 'add', path, value }]);
  });

  test('beside a pin that is an affinity', () => {
    const terms = [{ expressions: [{ key: 'spot', operator: 'Exists' as const, values: [] }], fields: [] }];
    const paths = patchOf({}, { kind: 'affinity', terms }).map(({ path }) => path);
    expect(paths).toEqual(['/spec/affinity', `/spec/affinity/nodeAffinity/${list}`]);
  });
});
