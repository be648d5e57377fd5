import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeRecord, PodRecord, SpreadRule } from './records.ts';
import { createSnapshot } from './snapshot.ts';
import { judgeSpread, type SpreadRequest } from './spread.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aSpreadRule, aTemplate, inZone } from './testing/records.ts';

const replicaSet = aReplicaSet(aDeployment());
const node = (name: string, zone?: string, changes: Partial<NodeRecord> = {}): NodeRecord => {
  const made = aNode(name, undefined, changes);
  return { ...made, labels: { ...made.labels, ...(zone !== undefined && { zone }) } };
};
const pod = (nodeName: string, changes: Partial<PodRecord> = {}): PodRecord =>
  aPod(replicaSet, `on-${nodeName}`, { nodeName, ...changes });

/** So many pods of `web` on each node. */
const podsOn = (counts: Readonly<Record<string, number>>): readonly PodRecord[] =>
  Object.entries(counts).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, index) => pod(name, { uid: `${name}-${index}`, name: `${name}-${index}` })),
  );

const leaving = aPod(replicaSet, 'leaving', { uid: 'leaving' });

interface Scene {
  readonly nodes: readonly NodeRecord[];
  readonly pods?: readonly PodRecord[];
  readonly rules?: readonly Partial<SpreadRule>[];
  readonly request?: Partial<SpreadRequest>;
}

function judge({ nodes, pods = [], rules = [{ topologyKey: 'zone' }], request = {} }: Scene) {
  const spread = rules.map((rule) => aSpreadRule(rule));
  const { template = aTemplate(), ...rest } = request;
  return judgeSpread(createSnapshot({ nodes, pods }), {
    namespace: 'shop',
    tolerations: [],
    pinTerms: undefined,
    leaving,
    ...rest,
    template: { ...template, spread },
  });
}
/** The nodes on which the pod would not be scheduled. */
const unevenOn = (scene: Scene): readonly string[] =>
  scene.nodes.flatMap((each) => (judge(scene).isUneven(each) ? [each.name] : []));

const [a1, a2, b1, x] = [node('a1', 'a'), node('a2', 'a'), node('b1', 'b'), node('x')];

describe('hazard H20: spread over zones', () => {
  test.each<[string, Readonly<Record<string, number>>, Partial<SpreadRule>, readonly string[]]>([
    ['as many in each', { a1: 1, b1: 1 }, {}, []],
    ['one more in one of them: that is full', { a1: 1, a2: 1, b1: 1 }, {}, ['a1', 'a2']],
    ['which a skew of two allows', { a1: 1, a2: 1, b1: 1 }, { maxSkew: 2 }, []],
    ['too few domains: the fewest are none', { a1: 1, b1: 1 }, { minDomains: 3 }, ['a1', 'a2', 'b1']],
    ['as many domains as there must be', { a1: 1, b1: 1 }, { minDomains: 2 }, []],
    [
      'of pods that the selector does not pick none is counted',
      { a1: 5 },
      { selector: { matchLabels: { app: 'db' } } },
      [],
    ],
    ['nor without a selector', { a1: 5 }, { selector: undefined }, []],
  ])('%s', (_, counts, rule, expected) => {
    const scene = { nodes: [a1, a2, b1], pods: podsOn(counts), rules: [{ topologyKey: 'zone', ...rule }] };
    expect(unevenOn(scene)).toEqual(expected);
  });

  test('a node of no zone takes none, and is no zone of its own', () => {
    expect(unevenOn({ nodes: [a1, x], pods: podsOn({ a1: 3, x: 0 }) })).toEqual(['x']);
  });

  test('the pod that it takes the place of is not counted, nor are pods of other namespaces and such as end', () => {
    const pods = [
      pod('a1', { uid: 'leaving' }),
      pod('a1', { uid: 'other', namespace: 'other' }),
      pod('a1', { uid: 'going', name: 'going', deletingAt: 1 }),
      pod('a1', { uid: 'done', name: 'done', phase: 'Succeeded' }),
    ];
    expect(unevenOn({ nodes: [a1, b1], pods })).toEqual([]);
    expect(unevenOn({ nodes: [a1, b1], pods: [...pods, pod('a1', { uid: 'stays', name: 'stays' })] })).toEqual(['a1']);
  });

  test('a pod that its own selector does not pick adds none', () => {
    const db = aTemplate({ labels: { app: 'db' } });
    const request = { template: db, leaving: { ...leaving, template: db } };
    expect(unevenOn({ nodes: [a1, b1], pods: podsOn({ a1: 1 }), request })).toEqual([]);
    expect(unevenOn({ nodes: [a1, b1], pods: podsOn({ a1: 2 }), request })).toEqual(['a1']);
  });

  test('labels that pods must share are read from the pod that leaves: other revisions are not counted', () => {
    const revision = (hash: string) => aTemplate({ labels: { app: 'web', 'pod-template-hash': hash } });
    const numbered = (nodeName: string, uid: string, hash: string) =>
      pod(nodeName, { uid, name: uid, template: revision(hash) });
    const pods = [numbered('a1', '1', 'old'), numbered('a1', '2', 'new'), numbered('b1', '3', 'old')];
    const unevenWith = (hash: string, keys: readonly string[]) =>
      unevenOn({
        nodes: [a1, b1],
        pods,
        rules: [{ topologyKey: 'zone', matchLabelKeys: keys }],
        request: { leaving: { ...leaving, template: revision(hash) } },
      });
    expect(unevenWith('new', ['pod-template-hash'])).toEqual(['a1']);
    expect(unevenWith('old', ['pod-template-hash'])).toEqual([]);
    expect(unevenWith('old', ['no-such-label'])).toEqual(['a1']);
  });
});

describe('hazard H20: which nodes make domains', () => {
  const onDemand = [
    {
      expressions: [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] }],
      fields: [],
    },
  ];
  const made = (name: string, type: string, zone: string, changes: Partial<NodeRecord> = {}) => {
    const each = aNode(name, type, changes);
    return { ...each, labels: { ...each.labels, zone } };
  };
  const nodes = [made('o', 'on-demand', 'a'), made('s', 'spot', 'b')];
  const pods = podsOn({ o: 1 });

  test.each<[string, Partial<SpreadRule>, Partial<SpreadRequest>, readonly string[]]>([
    ['zones of the other side are none, as the pod is pinned to its own', {}, { pinTerms: onDemand }, []],
    ['unless affinity is to be ignored', { honorsAffinity: false }, { pinTerms: onDemand }, ['o']],
    ['or nothing pins it', {}, {}, ['o']],
    [
      'zones that the template itself excludes are none',
      {},
      { template: aTemplate({ requiredNodeTerms: [inZone('a')] }) },
      [],
    ],
    ['nor such as its node selector excludes', {}, { template: aTemplate({ nodeSelector: { zone: 'a' } }) }, []],
  ])('%s', (_, rule, request, expected) => {
    const judged = judge({ nodes, pods, rules: [{ topologyKey: 'zone', ...rule }], request });
    expect(nodes.filter((each) => judged.isUneven(each)).map(({ name }) => name)).toEqual(expected);
  });

  test.each<[string, boolean, boolean, readonly string[]]>([
    ['taints are not looked at by default', false, false, ['o']],
    ['where they are to be honored, a zone behind one is none', true, false, []],
    ['but for who tolerates it', true, true, ['o']],
  ])('bug 20: %s', (_, honorsTaints, tolerates, expected) => {
    const tainted = made('s', 'spot', 'b', { taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] });
    const tolerations = tolerates ? [{ key: 'gpu', operator: 'Exists', value: '', effect: '' } as const] : [];
    const request = { tolerations };
    const scene = {
      nodes: [nodes[0] ?? tainted, tainted],
      pods,
      rules: [{ topologyKey: 'zone', honorsTaints }],
      request,
    };
    expect(unevenOn(scene)).toEqual(expected);
  });

  test('nodes that lack the key of another rule are in no domain of any', () => {
    const rules = [{ topologyKey: 'zone' }, { topologyKey: 'rack', maxSkew: 9 }];
    const racked = { ...a1, labels: { ...a1.labels, rack: 'r1' } };
    expect(unevenOn({ nodes: [racked, b1], pods: podsOn({ a1: 5 }), rules })).toEqual(['b1']);
  });

  test('cordoned nodes and such as are not ready are in theirs, as for the scheduler', () => {
    const gone = node('b1', 'b', { ready: false, unschedulable: true });
    expect(unevenOn({ nodes: [a1, gone], pods: podsOn({ a1: 1 }) })).toEqual(['a1']);
  });
});

describe('hazard H20: whether a new node could do', () => {
  const scene = { nodes: [a1, b1], pods: podsOn({ a1: 2, b1: 1 }) };

  test('one in the zone that has fewest can', () => {
    expect(judge(scene).isUnevenBeside([a1, b1])).toBe(false);
    expect(judge(scene).isUnevenBeside([a1])).toBe(true);
  });

  test('where there is no node yet nothing is known against it', () => {
    expect(judge({ ...scene, rules: [{ topologyKey: 'zone', minDomains: 9 }] }).isUnevenBeside([])).toBe(false);
  });

  test('a new machine is always the emptiest', () => {
    const full = { nodes: [a1], pods: podsOn({ a1: 5 }), rules: [{ minDomains: 3 }] };
    expect(judge(full).isUneven(a1)).toBe(true);
    expect(judge(full).isUnevenBeside([a1])).toBe(false);
  });
});

test('without rules, and where nobody’s place is taken, spread is not in the way', () => {
  const pods = podsOn({ a1: 5 });
  expect(unevenOn({ nodes: [a1, b1], pods, rules: [] })).toEqual([]);
  expect(unevenOn({ nodes: [a1, b1], pods, request: { leaving: undefined } })).toEqual([]);
  expect(judge({ nodes: [a1, b1], pods, request: { leaving: undefined } }).isUnevenBeside([a1])).toBe(false);
});

test('Property: for any counts, a pod placed where it may be leaves no domain more than maxSkew above the emptiest', () => {
  const counts = fc.array(fc.nat(6), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 3 }), (inZones, maxSkew) => {
      const nodes = inZones.map((_, index) => node(`n${index}`, `z${index}`));
      const pods = podsOn(Object.fromEntries(inZones.map((count, index) => [`n${index}`, count])));
      const judged = judge({ nodes, pods, rules: [{ topologyKey: 'zone', maxSkew }] });
      const least = Math.min(...inZones);
      for (const [index, each] of nodes.entries()) {
        const after = (inZones[index] ?? 0) + 1;
        expect(judged.isUneven(each)).toBe(after - least > maxSkew);
      }
      // Some domain has the fewest, and takes one more always.
      expect(nodes.every((each) => judged.isUneven(each))).toBe(false);
    }),
  );
});
