import { describe, expect, test } from 'vitest';
import { type TestPolicy, validPolicy } from '../../model/testing/policies.ts';
import {
  isClusterWide,
  isGranted,
  namespaceMismatch,
  type PolicyMismatch,
  type PolicyTenancy,
  systemNamespaces,
  workloadMismatch,
} from './policy-match.ts';

const tenancy: PolicyTenancy = { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set(['platform']) };
const selecting = (selector: object, more: TestPolicy = {}) =>
  validPolicy({ ...more, spec: { selector, ...more.spec } });

describe('optipod defect B12: whose workloads a policy may select', () => {
  test.each<[string, string | undefined, boolean]>([
    ['stowage-system', undefined, true],
    ['stowage-system', 'Cluster', true],
    ['stowage-system', 'Namespace', false],
    ['platform', undefined, true],
    ['platform', 'Namespace', false],
    ['shop', undefined, false],
    ['shop', 'Cluster', false],
    ['shop', 'Namespace', false],
  ])('a policy of %s with scope %s reaches other namespaces: %s', (namespace, scope, expected) => {
    const policy = validPolicy({ namespace, spec: { ...(scope !== undefined && { scope }) } });
    expect(isClusterWide(policy, tenancy)).toBe(expected);
    expect(namespaceMismatch(policy, { name: 'bank', labels: {} }, tenancy)).toBe(expected ? undefined : 'scope');
    expect(namespaceMismatch(policy, { name: namespace, labels: {} }, tenancy)).toBeUndefined();
  });

  test('a star grants every namespace, as OptiPod does', () => {
    expect(isGranted('shop', { operatorNamespace: 'x', allowedPolicyNamespaces: new Set(['*']) })).toBe(true);
    expect(isGranted('shop', tenancy)).toBe(false);
  });

  test.each([...systemNamespaces])('%s has to be named', (name) => {
    const system = { name, labels: { team: 'a' } };
    expect(namespaceMismatch(selecting({ namespaces: {} }), system, tenancy)).toBe('system-namespace');
    expect(namespaceMismatch(selecting({ namespaceSelector: {} }), system, tenancy)).toBe('system-namespace');
    expect(namespaceMismatch(selecting({ namespaces: { allow: [name] } }), system, tenancy)).toBeUndefined();
    const both = selecting({ namespaces: { allow: [name], deny: [name] } });
    expect(namespaceMismatch(both, system, tenancy)).toBe('namespace-denied');
  });
});

describe('the parts of a selector', () => {
  test.each<[string, object, PolicyMismatch | undefined]>([
    ['nothing said', { namespaces: {} }, undefined],
    ['allowed', { namespaces: { allow: ['shop', 'bank'] } }, undefined],
    ['not allowed', { namespaces: { allow: ['bank'] } }, 'namespace-not-allowed'],
    ['denied', { namespaces: { deny: ['shop'] } }, 'namespace-denied'],
    ['deny beats allow', { namespaces: { allow: ['shop'], deny: ['shop'] } }, 'namespace-denied'],
    ['names are exact, not patterns', { namespaces: { allow: ['sh*'] } }, 'namespace-not-allowed'],
    ['labels match', { namespaceSelector: { matchLabels: { team: 'a' } } }, undefined],
    ['labels differ', { namespaceSelector: { matchLabels: { team: 'b' } } }, 'namespace-labels'],
    [
      'an expression',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] } },
      'namespace-labels',
    ],
  ])('of the namespace: %s', (_, selector, expected) => {
    const namespace = { name: 'shop', labels: { team: 'a' } };
    expect(namespaceMismatch(selecting(selector), namespace, tenancy)).toBe(expected);
  });

  test.each<[string, object, string, PolicyMismatch | undefined]>([
    ['no kinds named', {}, 'DaemonSet', undefined],
    ['kinds that are only advised must be named', {}, 'CronJob', 'kind'],
    ['named', { include: ['CronJob'] }, 'CronJob', undefined],
    ['not named', { include: ['CronJob'] }, 'Deployment', 'kind'],
    ['excluded', { exclude: ['Deployment'] }, 'Deployment', 'kind'],
    ['both: exclude wins', { include: ['Deployment'], exclude: ['Deployment'] }, 'Deployment', 'kind'],
    ['a kind nobody knows', {}, 'Pod', 'kind'],
  ])('kinds: %s', (_, workloadTypes, kind, expected) => {
    expect(workloadMismatch(selecting({ namespaces: {}, workloadTypes }), { kind, labels: {} })).toBe(expected);
  });

  test('labels of the workload', () => {
    const policy = selecting({ workloadSelector: { matchLabels: { optimize: 'true' } } });
    expect(workloadMismatch(policy, { kind: 'Deployment', labels: { optimize: 'true' } })).toBeUndefined();
    expect(workloadMismatch(policy, { kind: 'Deployment', labels: {} })).toBe('workload-labels');
  });
});
