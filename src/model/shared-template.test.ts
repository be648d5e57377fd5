import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { PodTemplate } from './records.ts';
import { SharedTemplate, withParts, withRequests } from './shared-template.ts';

const requests = { cpuMillis: 100, memoryBytes: 1000 };
const plain: Required<PodTemplate> = {
  labels: { app: 'web' },
  nodeSelector: { disk: 'ssd' },
  requiredNodeTerms: [{ expressions: [], fields: [] }],
  tolerations: [{ key: 'spot', operator: 'Exists', value: '', effect: '' }],
  requests,
  extraRequests: { 'nvidia.com/gpu': 1 },
  claimsDevices: true,
  hasPodPlacementRules: true,
  podAffinity: [{ kind: 'apart', topologyKey: 'zone', selector: {}, isOwn: true, isElsewhere: false }],
  spread: [],
  terminationGraceSeconds: 7,
  preferences: { nodeTerms: [], spreadKeys: ['zone'] },
};
const { requests: _, ...kind } = plain;
const keys = Object.keys(plain) as (keyof PodTemplate)[];
const read = (template: PodTemplate): unknown[] => keys.map((key) => template[key]);

describe('a template that shares its kind', () => {
  test('has all that the plain one has', () => {
    expect(read(new SharedTemplate(kind, requests))).toEqual(read(plain));
  });

  test('is equal to another where kind and requests are', () => {
    const one = new SharedTemplate(kind, requests);
    expect(isDeepStrictEqual(one, new SharedTemplate({ ...kind }, { ...requests }))).toBe(true);
    expect(isDeepStrictEqual(one, new SharedTemplate(kind, { ...requests, cpuMillis: 101 }))).toBe(false);
    expect(isDeepStrictEqual(one, new SharedTemplate({ ...kind, labels: {} }, requests))).toBe(false);
  });
});

test.each([
  ['plain', plain],
  ['shared', new SharedTemplate(kind, requests)],
])('of a %s one, other requests take the place of its own, and all else stays', (_name, template) => {
  const more = { cpuMillis: 200, memoryBytes: 3000 };
  expect(read(withRequests(template, more))).toEqual(read({ ...plain, requests: more }));
  expect(template.requests).toEqual(requests);
  const parts = { labels: { app: 'other' }, spread: undefined };
  expect(read(withParts(template, parts))).toEqual(read({ ...plain, ...parts }));
  expect(withParts(template, { requests: more }).requests).toEqual(more);
});
