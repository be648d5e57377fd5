import { describe, expect, test } from 'vitest';
import { type TestPolicy, validPolicy } from '../../model/testing/policies.ts';
import type { PolicyTenancy } from './policy-match.ts';
import { type PlacedSubject, policyWarnings, tiesOf } from './policy-warnings.ts';

const tenancy: PolicyTenancy = { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set(['platform']) };
const placed = (namespace: string, name: string, labels: Record<string, string> = {}): PlacedSubject => ({
  workload: { namespace, kind: 'Deployment', name, labels },
  namespace: { name: namespace, labels: {} },
});

describe('policyWarnings', () => {
  test.each<[string, TestPolicy, readonly RegExp[]]>([
    ['nothing odd', {}, []],
    [
      'nothing odd in a namespace of its own',
      { namespace: 'shop', spec: { selector: { namespaces: { allow: ['shop'] } } } },
      [],
    ],
    ['a scope that is granted', { namespace: 'platform', spec: { scope: 'Cluster' } }, []],
    [
      'a scope that is not granted',
      { namespace: 'shop', spec: { scope: 'Cluster' } },
      [/^scope Cluster is not granted: policies of namespace shop select workloads of that namespace only$/],
    ],
    [
      'namespaces of others',
      { namespace: 'shop', spec: { selector: { namespaces: { allow: ['shop', 'bank'] } } } },
      [/allow names bank, but policies of namespace shop/],
    ],
    [
      'labels of namespaces that are out of reach',
      { namespace: 'shop', spec: { selector: { namespaceSelector: { matchLabels: { env: 'production' } } } } },
      [/^selector\.namespaceSelector is asked of namespace shop alone: policies of namespace shop/],
    ],
    [
      'labels of namespaces, where that is meant or granted',
      { namespace: 'shop', spec: { scope: 'Namespace', selector: { namespaceSelector: {} } } },
      [],
    ],
    ['labels of namespaces in reach', { namespace: 'platform', spec: { selector: { namespaceSelector: {} } } }, []],
    [
      'no kind left',
      { spec: { selector: { namespaces: {}, workloadTypes: { include: ['Job'], exclude: ['Job'] } } } },
      [/leaves no kind/],
    ],
    [
      'both allowed and denied',
      { spec: { selector: { namespaces: { allow: ['a', 'b'], deny: ['b'] } } } },
      [/^b is both allowed and denied; deny counts$/],
    ],
    ['custom without a name', { spec: { metricsConfig: { provider: 'custom' } } }, [/custom\.name/]],
    [
      'a window of a year',
      { spec: { metricsConfig: { provider: 'prometheus', rollingWindow: '365d' } } },
      [/^metricsConfig\.rollingWindow is longer than 90d/],
    ],
    [
      'memory in thousandths of a byte',
      { spec: { resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '128m', max: '512m' } } } },
      [/^resourceBounds\.memory\.max is 1 in bytes, .* 512Mi or the like$/],
    ],
    [
      'CPU without a unit',
      { spec: { resourceBounds: { cpu: { min: 100, max: 4000 }, memory: { min: '128Mi', max: '8Gi' } } } },
      [/^resourceBounds\.cpu\.min is 100 cores, .* 100m or the like$/],
    ],
    [
      'headroom in bytes',
      { spec: { updateStrategy: { limitConfig: { policy: 'Headroom', headroom: { memory: 256 } } } } },
      [/^limitConfig\.headroom\.memory is 256 in bytes, .* 256Mi or the like$/],
    ],
    ['Auto that cannot apply', { spec: { updateStrategy: { allowInPlaceResize: false } } }, [/nothing can be applied/]],
    ['Recommend need not apply', { spec: { mode: 'Recommend', updateStrategy: { allowInPlaceResize: false } } }, []],
  ])('%s', (_, policy, expected) => {
    const warnings = policyWarnings(validPolicy(policy), tenancy);
    expect(warnings).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(warnings[index]).toMatch(pattern);
  });
});

describe('tiesOf', () => {
  const optimized = { workloadSelector: { matchLabels: { optimize: 'true' } } };
  const candidate = validPolicy({ name: 'new', spec: { selector: optimized } });
  const subjects = [placed('shop', 'idle'), placed('shop', 'web', { optimize: 'true' }), placed('bank', 'api')];
  const ties = (policies: readonly TestPolicy[]) =>
    tiesOf(candidate, policies.map(validPolicy), subjects, tenancy).map(
      ({ policy, example }) => `${policy.name}: ${example}`,
    );

  test.each<[string, readonly TestPolicy[], readonly string[]]>([
    ['none', [], []],
    ['itself', [{ name: 'new' }], []],
    ['same weight, same workload', [{ name: 'old' }], ['old: Deployment shop/web']],
    ['another weight', [{ name: 'old', spec: { weight: 101 } }], []],
    ['same weight, other workloads', [{ name: 'old', spec: { selector: { namespaces: { deny: ['shop'] } } } }], []],
    ['same weight, out of reach', [{ name: 'old', namespace: 'bank' }], []],
    ['being deleted', [{ name: 'old', deleting: true }], []],
    ['several, each once', [{ name: 'a' }, { name: 'b' }], ['a: Deployment shop/web', 'b: Deployment shop/web']],
  ])('%s', (_, policies, expected) => {
    expect(ties(policies)).toEqual(expected);
  });

  test('no workloads, no ties', () => {
    expect(tiesOf(candidate, [validPolicy({ name: 'old' })], [], tenancy)).toEqual([]);
  });
});
