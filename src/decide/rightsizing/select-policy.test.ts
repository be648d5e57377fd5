import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import { policyRecord, type TestPolicy, validPolicy } from '../../model/testing/policies.ts';
import type { PolicyTenancy } from './policy-match.ts';
import { createPolicyIndex, type PolicySubject, selectPolicy } from './select-policy.ts';

const tenancy: PolicyTenancy = { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set() };
const web: PolicySubject = { namespace: 'shop', kind: 'Deployment', labels: { app: 'web', optimize: 'true' } };
const shop = { name: 'shop', labels: { environment: 'production' } };

const select = (policies: readonly TestPolicy[], subject = web, namespace: typeof shop | undefined = shop) =>
  selectPolicy(subject, namespace, policies.map(policyRecord), tenancy);

const winnerOf = (policies: readonly TestPolicy[], subject = web): string | undefined => {
  const { winner } = select(policies, subject);
  return winner === undefined ? undefined : `${winner.namespace}/${winner.name}`;
};

describe('which of several policies has the say', () => {
  test.each<[string, readonly TestPolicy[], string | undefined]>([
    ['none', [], undefined],
    [
      'of three weights the highest',
      [
        { name: 'a', spec: { weight: 50 } },
        { name: 'b', spec: { weight: 200 } },
        { name: 'c', spec: {} },
      ],
      'stowage-system/b',
    ],
    ['no weight is 100', [{ name: 'a', spec: { weight: 99 } }, { name: 'b' }], 'stowage-system/b'],
    ['of equal weights the first by name', [{ name: 'b' }, { name: 'a' }, { name: 'c' }], 'stowage-system/a'],
    ['names are compared by code point', [{ name: 'b-1' }, { name: 'b.1' }], 'stowage-system/b-1'],
    [
      'of equal names the first by namespace',
      [
        { name: 'a', namespace: 'stowage-system' },
        { name: 'a', namespace: 'shop' },
      ],
      'shop/a',
    ],
    [
      'optipod defect B11: an invalid policy never wins',
      [{ name: 'bad', spec: { weight: 1000, mode: 'Observe' } }, { name: 'good' }],
      'stowage-system/good',
    ],
    [
      'optipod defect B11: one that is being deleted never wins',
      [{ name: 'going', deleting: true, spec: { weight: 1000 } }, { name: 'good' }],
      'stowage-system/good',
    ],
    ['only invalid ones: none', [{ spec: { selector: {} } }], undefined],
  ])('%s', (_, policies, expected) => {
    expect(winnerOf(policies)).toBe(expected);
  });

  test('the others are told in the order in which they would take over, ties are told', () => {
    const { winner, others, tied, shielded } = select([
      { name: 'low', spec: { weight: 1 } },
      { name: 'b' },
      { name: 'a' },
      { name: 'elsewhere', spec: { selector: { namespaces: { deny: ['shop'] } } } },
    ]);
    expect([winner?.name, others.map(({ name }) => name), tied, shielded]).toEqual(['a', ['b', 'low'], true, false]);
    expect(select([{ name: 'low', spec: { weight: 1 } }, { name: 'b' }]).tied).toBe(false);
  });

  test('optipod defect B10: of two policies with one name only the one with the winning uid has the say', () => {
    const first = policyRecord({ name: 'same', namespace: 'shop' });
    const second = policyRecord({ name: 'same', namespace: 'stowage-system' });
    const { winner } = selectPolicy(web, shop, [second, first], tenancy);
    expect([winner?.uid === first.uid, winner?.uid === second.uid]).toEqual([true, false]);
  });

  test('the same name in both groups: the group of the design first', () => {
    const shipped = policyRecord({ name: 'same', group: 'optipod.optipod.io', uid: 'old' });
    const designed = policyRecord({ name: 'same', group: 'optipod.io', uid: 'new' });
    expect(selectPolicy(web, shop, [shipped, designed], tenancy).winner?.uid).toBe('new');
  });

  test('policies by kind are independent: each kind has its own', () => {
    const policies = [
      { name: 'of-deployments', spec: { selector: { namespaces: {}, workloadTypes: { include: ['Deployment'] } } } },
      { name: 'of-sets', spec: { selector: { namespaces: {}, workloadTypes: { include: ['StatefulSet'] } } } },
    ];
    expect(winnerOf(policies)).toBe('stowage-system/of-deployments');
    expect(winnerOf(policies, { ...web, kind: 'StatefulSet' })).toBe('stowage-system/of-sets');
    expect(winnerOf(policies, { ...web, kind: 'DaemonSet' })).toBeUndefined();
  });

  test('a namespace whose labels are not known matches no condition on them, and any other', () => {
    const byLabels = { name: 'labels', spec: { selector: { namespaceSelector: {} } } };
    const byName = { name: 'names', spec: { weight: 1, selector: { namespaces: { allow: ['shop'] } } } };
    const policies = [byLabels, byName].map(policyRecord);
    expect(selectPolicy(web, undefined, policies, tenancy).winner?.name).toBe('names');
    expect(selectPolicy(web, shop, policies, tenancy).winner?.name).toBe('labels');
  });
});

describe('a policy that is Disabled', () => {
  test('shields its workloads from policies of less weight', () => {
    const selection = select([{ name: 'off', spec: { weight: 200, mode: 'Disabled' } }, { name: 'on' }]);
    expect([selection.winner?.name, selection.shielded]).toEqual(['off', true]);
  });

  test('does not shield from a policy of more weight', () => {
    const selection = select([
      { name: 'off', spec: { mode: 'Disabled' } },
      { name: 'on', spec: { weight: 200 } },
    ]);
    expect([selection.winner?.name, selection.shielded]).toEqual(['on', false]);
  });

  // Feature: k8s-workload-rightsizing, Property 19: Disabled mode stops processing
  test('Property 19: nobody has the say over a workload whose best policy is Disabled', () => {
    const policies = fc.array(
      fc.record({ weight: fc.integer({ min: 1, max: 5 }), mode: fc.constantFrom('Auto', 'Recommend', 'Disabled') }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(policies, (wanted) => {
        const selection = select(wanted.map((spec, index) => ({ name: `p${index}`, spec })));
        const highest = Math.max(...wanted.map(({ weight }) => weight));
        const best = wanted.find(({ weight }) => weight === highest);
        expect(selection.winner?.spec.mode).toBe(best?.mode);
        expect(selection.shielded).toBe(best?.mode === 'Disabled');
      }),
      { numRuns: 200 },
    );
  });
});

const names = ['shop', 'bank', 'stowage-system', 'kube-system', 'lab'];
const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'];
const labels = fc.record(
  { team: fc.constantFrom('a', 'b', 'c'), tier: fc.constantFrom('x', 'y') },
  { requiredKeys: [] },
);
const subset = (of: readonly string[]) => fc.subarray([...of]);
const labelSelector = fc.record({
  matchLabels: fc.record({ team: fc.constantFrom('a', 'b', 'c') }, { requiredKeys: [] }),
});
const subject = fc.record({ namespace: fc.constantFrom(...names), kind: fc.constantFrom(...kinds), labels });
const selector = fc.record({
  namespaceSelector: fc.option(labelSelector, { nil: undefined }),
  workloadSelector: fc.option(labelSelector, { nil: undefined }),
  namespaces: fc.record({ allow: subset(names), deny: subset(names) }),
  workloadTypes: fc.record({ include: subset(kinds), exclude: subset(kinds) }),
});

/** What a selector means, said once more without the code under test. */
function isMeant(wanted: {
  selector: typeof selector extends fc.Arbitrary<infer T> ? T : never;
  policyNamespace: string;
  subject: { namespace: string; kind: string; labels: { team?: string } };
  namespaceLabels: { team?: string };
}): boolean {
  const { selector: of, policyNamespace, subject: it, namespaceLabels } = wanted;
  if (policyNamespace !== 'stowage-system' && policyNamespace !== it.namespace) return false;
  if (of.namespaces.deny.includes(it.namespace)) return false;
  const isNamed = of.namespaces.allow.includes(it.namespace);
  if (!isNamed && (of.namespaces.allow.length > 0 || it.namespace === 'kube-system')) return false;
  const { include, exclude } = of.workloadTypes;
  const included = include.length > 0 ? include : ['Deployment', 'StatefulSet', 'DaemonSet'];
  if (!included.includes(it.kind) || exclude.includes(it.kind)) return false;
  const wantedTeam = of.namespaceSelector?.matchLabels.team;
  if (wantedTeam !== undefined && namespaceLabels.team !== wantedTeam) return false;
  const team = of.workloadSelector?.matchLabels.team;
  return team === undefined || it.labels.team === team;
}

describe('for any workloads and policies', () => {
  // Feature: k8s-workload-rightsizing, Property 27: Multi-tenant scoping
  test('Property 27: namespace selectors, workload selectors, lists and tenancy all hold, and deny beats allow', () => {
    const question = fc.record({
      selector,
      policyNamespace: fc.constantFrom(...names),
      subject,
      namespaceLabels: labels,
    });
    fc.assert(
      fc.property(question, (wanted) => {
        const { policyNamespace, namespaceLabels } = wanted;
        const policy = validPolicy({
          namespace: policyNamespace,
          spec: { selector: JSON.parse(JSON.stringify(wanted.selector)) },
        });
        const namespace = { name: wanted.subject.namespace, labels: namespaceLabels };
        const { winner } = selectPolicy(wanted.subject, namespace, [policy], tenancy);
        expect(winner !== undefined).toBe(isMeant(wanted));
      }),
      { numRuns: 500 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 16: Workload discovery
  test('Property 16: a policy finds every matching Deployment, StatefulSet and DaemonSet, and no other workload', () => {
    const fleet = fc.array(subject, { maxLength: 30 });
    fc.assert(
      fc.property(fleet, labelSelector, subset(names), (workloads, workloadSelector, allow) => {
        const policy = validPolicy({ spec: { selector: { workloadSelector, namespaces: { allow } } } });
        const index = createPolicyIndex([policy], tenancy);
        const found = workloads.filter(
          (each) => index.select(each, { name: each.namespace, labels: {} }).winner !== undefined,
        );
        const team = workloadSelector.matchLabels.team;
        const expected = workloads.filter(
          ({ kind, namespace, labels: own }) =>
            kind !== 'CronJob' &&
            (allow.length === 0 ? namespace !== 'kube-system' : allow.includes(namespace)) &&
            (team === undefined || own.team === team),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test('an index answers as a single question does, whatever was asked before', () => {
    const policy = fc.record({
      weight: fc.integer({ min: 1, max: 3 }),
      selector,
      namespace: fc.constantFrom(...names),
    });
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 8 }), fc.array(subject, { maxLength: 10 }), (wanted, workloads) => {
        const policies: PolicyRecord[] = wanted.map(({ namespace, ...spec }, index) =>
          policyRecord({ name: `p${index}`, namespace, spec: JSON.parse(JSON.stringify(spec)) }),
        );
        const index = createPolicyIndex(policies, tenancy);
        for (const each of [...workloads, ...workloads]) {
          const namespace = { name: each.namespace, labels: {} };
          expect(index.select(each, namespace)).toEqual(selectPolicy(each, namespace, policies, tenancy));
        }
      }),
    );
  });

  test('labels of a namespace that change are seen', () => {
    const policy = validPolicy({ spec: { selector: { namespaceSelector: { matchLabels: { team: 'a' } } } } });
    const index = createPolicyIndex([policy], tenancy);
    const winner = (team: string) => index.select(web, { name: 'shop', labels: { team } }).winner?.name;
    expect([winner('a'), winner('b'), winner('a')]).toEqual(['policy', undefined, 'policy']);
  });
});
