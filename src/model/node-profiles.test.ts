import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNodeClassifier } from './node-class.ts';
import { matchesNodeTerms } from './node-fit.ts';
import { type CustomNodeClasses, nodeClassProfile, termsOf } from './node-profiles.ts';
import type { Labels } from './records.ts';
import { aNode } from './testing/records.ts';

describe('nodeClassProfile', () => {
  test.each([
    ['karpenter', 'karpenter.sh/capacity-type', 'spot', 'on-demand'],
    ['eks', 'eks.amazonaws.com/capacityType', 'SPOT', 'ON_DEMAND'],
  ] as const)('case 25: %s is pinned by one equality a side', (name, key, spot, onDemand) => {
    expect(nodeClassProfile([name]).pins).toEqual({
      spot: { kind: 'nodeSelector', key, value: spot },
      onDemand: { kind: 'nodeSelector', key, value: onDemand },
    });
  });

  test.each([
    ['gke', 'cloud.google.com/gke-spot', 'true'],
    ['aks', 'kubernetes.azure.com/scalesetpriority', 'spot'],
    ['castai', 'scheduling.cast.ai/spot', 'true'],
  ] as const)(
    'case 25: %s pins spot by equality and on-demand by the absence of every spot label',
    (name, key, value) => {
      const settings = nodeClassProfile([name]);
      expect(settings.pins.spot).toEqual({ kind: 'nodeSelector', key, value });
      const [term] = termsOf(settings.pins.onDemand);
      expect(settings.pins.onDemand.kind).toBe('affinity');
      expect(term?.expressions[0]).toEqual({ key, operator: 'NotIn', values: [value] });
      expect(term?.expressions).toHaveLength(settings.spot.length);
    },
  );

  test('case 25: own labels with different keys for spot and on-demand', () => {
    const { pins } = nodeClassProfile([], {
      spot: [{ matchLabels: { 'node-role.kubernetes.io/spot-worker': 'true' } }],
      onDemand: [{ matchExpressions: [{ key: 'lifecycle', operator: 'In', values: ['normal'] }] }],
    });
    expect(pins.spot).toEqual({ kind: 'nodeSelector', key: 'node-role.kubernetes.io/spot-worker', value: 'true' });
    expect(pins.onDemand).toEqual({ kind: 'nodeSelector', key: 'lifecycle', value: 'normal' });
  });

  test('several labels or values become required affinity', () => {
    const { pins } = nodeClassProfile([], {
      spot: [{ matchLabels: { pool: 'cheap', arch: 'arm64' } }],
      onDemand: [{ matchExpressions: [{ key: 'lifecycle', operator: 'In', values: ['normal', 'reserved'] }] }],
    });
    expect(pins.spot).toEqual({
      kind: 'affinity',
      terms: [
        {
          expressions: [
            { key: 'pool', operator: 'In', values: ['cheap'] },
            { key: 'arch', operator: 'In', values: ['arm64'] },
          ],
          fields: [],
        },
      ],
    });
    expect(termsOf(pins.onDemand)[0]?.expressions[0]?.values).toEqual(['normal', 'reserved']);
  });

  test('several profiles are alternatives: one ORed term each', () => {
    const { pins } = nodeClassProfile(['karpenter', 'eks']);
    expect(termsOf(pins.spot).map((term) => term.expressions[0]?.key)).toEqual([
      'karpenter.sh/capacity-type',
      'eks.amazonaws.com/capacityType',
    ]);
  });

  test('case 25: what a profile and own labels both say is said once, as the node selector', () => {
    const own = (side: string) => [{ matchLabels: { 'karpenter.sh/capacity-type': side } }];
    const { pins } = nodeClassProfile(['karpenter'], { spot: own('spot'), onDemand: own('on-demand') });
    expect(pins).toEqual(nodeClassProfile(['karpenter']).pins);
  });

  test('reserved nodes are admitted by the pin only when asked for', () => {
    const pin = nodeClassProfile(['karpenter'], { includeReserved: true }).pins.onDemand;
    expect(termsOf(pin)[0]?.expressions).toEqual([
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand', 'reserved'] },
    ]);
  });

  test('brings the tolerations of its spot taint', () => {
    expect(nodeClassProfile(['aks', 'gke']).spotTolerations.map(({ key }) => key)).toEqual([
      'kubernetes.azure.com/scalesetpriority',
      'cloud.google.com/gke-spot',
    ]);
    expect(nodeClassProfile(['karpenter']).spotTolerations).toEqual([]);
  });

  test('Karpenter makes nodes of both sides; what the user says goes first', () => {
    expect(nodeClassProfile(['karpenter']).provisionable).toEqual({ spot: true, onDemand: true });
    expect(nodeClassProfile(['eks']).provisionable).toEqual({ spot: false, onDemand: false });
    const own = { spot: true, onDemand: false };
    expect(nodeClassProfile(['eks'], { provisionable: own }).provisionable).toEqual(own);
  });

  test('refuses to be of no use, naming what is missing', () => {
    expect(() => nodeClassProfile([])).toThrow(/spotLabels/);
    expect(() => nodeClassProfile([], { spot: [{ matchLabels: { a: 'b' } }] })).toThrow(/onDemandLabels/);
  });

  test('on any node of a known class, the pin of the other side never holds', () => {
    const label = fc.constantFrom(
      ['karpenter.sh/capacity-type', 'spot'],
      ['karpenter.sh/capacity-type', 'on-demand'],
      ['eks.amazonaws.com/capacityType', 'SPOT'],
      ['eks.amazonaws.com/capacityType', 'ON_DEMAND'],
      ['cloud.google.com/gke-spot', 'true'],
      ['cloud.google.com/gke-provisioning', 'spot'],
      ['kubernetes.azure.com/scalesetpriority', 'spot'],
      ['scheduling.cast.ai/spot', 'true'],
      ['pool', 'cheap'],
      ['pool', 'dear'],
      ['arch', 'arm64'],
    );
    const own = fc.constantFrom<CustomNodeClasses>(
      {},
      { spot: [{ matchLabels: { pool: 'cheap', arch: 'arm64' } }], onDemand: [{ matchLabels: { pool: 'dear' } }] },
      { onDemand: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }], includeReserved: true },
    );
    const nodes = fc.array(label, { maxLength: 4 }).map((labels): Labels => Object.fromEntries(labels));
    const clouds = fc.subarray(['karpenter', 'eks', 'gke', 'aks', 'castai'] as const, { minLength: 1 });
    fc.assert(
      fc.property(clouds, own, nodes, (names, more, labels) => {
        const settings = nodeClassProfile(names, more);
        const node = aNode('n', undefined, { labels });
        const nodeClass = createNodeClassifier(settings)(node);
        const matchesSpot = matchesNodeTerms(termsOf(settings.pins.spot), node);
        const matchesOnDemand = matchesNodeTerms(termsOf(settings.pins.onDemand), node);
        if (nodeClass === 'spot') expect(matchesOnDemand).toBe(false);
        if (nodeClass === 'on-demand') expect(matchesSpot).toBe(false);
        if (nodeClass === 'unknown') expect([matchesSpot, matchesOnDemand]).toEqual([false, false]);
      }),
      { numRuns: 1000 },
    );
  });

  test('negation of several conditions covers every node outside', () => {
    const settings = nodeClassProfile([], {
      spot: [
        { matchLabels: { pool: 'cheap', arch: 'arm64' } },
        { matchExpressions: [{ key: 'spot', operator: 'Exists' }] },
      ],
      absenceMeansOnDemand: true,
    });
    const outside = (labels: Labels): boolean =>
      matchesNodeTerms(termsOf(settings.pins.onDemand), aNode('n', undefined, { labels }));
    expect(outside({})).toBe(true);
    expect(outside({ pool: 'cheap' })).toBe(true);
    expect(outside({ arch: 'arm64', pool: 'dear' })).toBe(true);
    expect(outside({ pool: 'cheap', arch: 'arm64' })).toBe(false);
    expect(outside({ spot: '' })).toBe(false);
  });
});

test.each([[['karpenter']], [['gke']], [[]]] as const)(
  'hazard H8: with %j, taints by which any cloud or tool announces the end of a node count',
  (names) => {
    const own = { spot: [{ matchLabels: { a: 'spot' } }], onDemand: [{ matchLabels: { a: 'regular' } }] };
    const { leavingTaintKeys } = nodeClassProfile(names, own);
    for (const key of [
      'karpenter.sh/disrupted',
      'aws-node-termination-handler/spot-itn',
      'cloud.google.com/impending-node-termination',
      'ToBeDeletedByClusterAutoscaler',
    ])
      expect(leavingTaintKeys).toContain(key);
  },
);
