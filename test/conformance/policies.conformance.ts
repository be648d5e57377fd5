/** The CRDs of OptimizationPolicy on the API server: taken as they are, with their defaults, rules, columns and both groups. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { policyGroups } from '../../src/api/optimization-policy.ts';
import { checkPolicySpec } from '../../src/api/optimization-policy-check.ts';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Answer } from './endpoint.ts';
import { CRDS, installDefinition, least, pathIn, policy, policyCrds } from './policy-objects.ts';

function expectRefusal({ status, body }: Answer, message: string): void {
  expect([status, body['message']]).toEqual([422, expect.stringContaining(message)]);
}

describeOnBackends('optimization policies', (cluster) => {
  beforeAll(async () => {
    for (const crd of policyCrds) await installDefinition(cluster(), crd);
  });

  describe.each(policyGroups)('%s', (group) => {
    test('the definition is structural, and stored as it was sent', async () => {
      const { body } = await cluster().get(`${CRDS}/optimizationpolicies.${group}`);
      const conditions = at(body, 'status', 'conditions');
      const problem = Array.isArray(conditions)
        ? conditions.find((each) => at(each, 'type') === 'NonStructuralSchema')
        : conditions;
      expect(problem).toBeUndefined();
      const sent = policyCrds.find(({ spec }) => spec.group === group);
      expect(at(body, 'spec', 'versions', 0, 'schema')).toEqual(sent?.spec.versions[0]?.schema);
      expect(at(body, 'spec', 'names', 'shortNames')).toEqual(['optpol']);
      expect(at(body, 'spec', 'names', 'categories')).toEqual(['optpols']);
    });

    test('what is left out gets the defaults of OptiPod, and the spec so stored is valid for the parser', async () => {
      const { namespace, post } = cluster();
      const path = pathIn(group, (await namespace()).name);
      const { status, body } = await post(path, { apiVersion: `${group}/v1alpha1`, ...policy('least', least) });
      expect(status).toBe(201);
      expect(body['spec']).toMatchObject({
        weight: 100,
        metricsConfig: { rollingWindow: '24h', percentile: 'P90', safetyFactor: 1.2, strategy: 'Percentile' },
        updateStrategy: {
          allowInPlaceResize: true,
          allowRecreate: false,
          updateRequestsOnly: true,
          useServerSideApply: true,
          maxStep: { down: '50%' },
        },
        reconciliationInterval: '5m',
        hpa: 'Skip',
      });
      expect(at(body, 'spec', 'updateStrategy', 'limitConfig')).toBeUndefined();
      expect(checkPolicySpec(body['spec'])).toMatchObject({ ok: true });
    });

    test('unknown fields are pruned', async () => {
      const { namespace, post } = cluster();
      const path = pathIn(group, (await namespace()).name);
      const spec = { ...least, updateStrategy: { observeOnly: true }, more: 1 };
      const { body } = await post(path, { apiVersion: `${group}/v1alpha1`, ...policy('pruned', spec) });
      expect(at(body, 'spec', 'more')).toBeUndefined();
      expect(at(body, 'spec', 'updateStrategy', 'observeOnly')).toBeUndefined();
    });

    test('kubectl get shows mode, provider, readiness, number of workloads and age', async () => {
      const { namespace, post, must, call, mergePatch } = cluster();
      const path = pathIn(group, (await namespace()).name);
      await must(post(path, { apiVersion: `${group}/v1alpha1`, ...policy('shown', least) }));
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'PolicyValid',
        message: 'valid',
        lastTransitionTime: '2026-01-31T00:00:00Z',
      };
      await must(mergePatch(`${path}/shown/status`, { status: { conditions: [ready], workloadsDiscovered: 3 } }));
      const { body } = await call('GET', `${path}/shown`, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      const names = at(body, 'columnDefinitions');
      expect(Array.isArray(names) && names.map((column) => at(column, 'name'))).toEqual([
        'Name',
        'Mode',
        'Provider',
        'Ready',
        'Workloads',
        'Age',
      ]);
      const cells = at(body, 'rows', 0, 'cells');
      expect(Array.isArray(cells) && cells.slice(0, 5)).toEqual(['shown', 'Recommend', 'prometheus', 'True', 3]);
    });
  });

  test.each<[string, object, string]>([
    ['an unknown mode', { mode: 'Observe' }, 'spec.mode: Unsupported value: "Observe": supported values: "Auto"'],
    ['no mode', { mode: undefined }, 'spec.mode: Required value'],
    ['no selector at all', { selector: {} }, 'the selector needs at least one of'],
    ['a selector of kinds only', { selector: { workloadTypes: { include: ['Deployment'] } } }, 'the selector needs'],
    ['another kind', { selector: { namespaces: {}, workloadTypes: { include: ['Pod'] } } }, 'Unsupported value: "Pod"'],
    [
      'CPU bounds the wrong way round',
      { resourceBounds: { ...least.resourceBounds, cpu: { min: '4000m', max: '100m' } } },
      'CPU min must not be greater than max',
    ],
    [
      'memory bounds the wrong way round',
      { resourceBounds: { ...least.resourceBounds, memory: { min: '8Gi', max: '128Mi' } } },
      'memory min must not be greater than max',
    ],
    [
      'bounds of different notation the wrong way round',
      { resourceBounds: { ...least.resourceBounds, cpu: { min: 2, max: '1500m' } } },
      'CPU min must not be greater than max',
    ],
    [
      'a bound of zero',
      { resourceBounds: { ...least.resourceBounds, cpu: { min: '0m', max: '1' } } },
      'CPU min and max must be greater than zero',
    ],
    [
      'a factor below 1',
      { metricsConfig: { provider: 'prometheus', safetyFactor: 0.5 } },
      'the safety factor must be at least 1',
    ],
    ['another provider', { metricsConfig: { provider: 'nonexistent-provider' } }, 'Unsupported value'],
    [
      'a window that is no duration',
      { metricsConfig: { provider: 'prometheus', rollingWindow: '7 days' } },
      'spec.metricsConfig.rollingWindow in body should match',
    ],
    ['a weight beyond 1000', { weight: 1001 }, 'spec.weight in body should be less than or equal to 1000'],
    [
      'limit multipliers out of range',
      { updateStrategy: { limitConfig: { cpuLimitMultiplier: 0.5, memoryLimitMultiplier: 15 } } },
      'spec.updateStrategy.limitConfig.cpuLimitMultiplier in body should be greater than or equal to 1',
    ],
  ])('%s is refused', async (_, change, message) => {
    const { namespace, post } = cluster();
    const path = pathIn('optipod.io', (await namespace()).name);
    const spec = { ...least, ...change };
    expectRefusal(await post(path, { apiVersion: 'optipod.io/v1alpha1', ...policy('refused', spec) }), message);
    expect(checkPolicySpec(JSON.parse(JSON.stringify(spec)))).toMatchObject({ ok: false });
  });

  test.each<[string, object]>([
    ['7d', { metricsConfig: { provider: 'prometheus', rollingWindow: '7d' } }],
    ['2w', { metricsConfig: { provider: 'prometheus', rollingWindow: '2w' } }],
    ['P95', { metricsConfig: { provider: 'prometheus', percentile: 'P95' } }],
    ['0s', { metricsConfig: { provider: 'prometheus', rollingWindow: '0s' }, reconciliationInterval: '0s' }],
    ['empty selectors', { selector: { namespaceSelector: {} } }],
  ])('%s is taken', async (_, change) => {
    const { namespace, post } = cluster();
    const path = pathIn('optipod.optipod.io', (await namespace()).name);
    const body = { apiVersion: 'optipod.optipod.io/v1alpha1', ...policy('taken', { ...least, ...change }) };
    expect((await post(path, body)).status).toBe(201);
  });

  // Feature: k8s-workload-rightsizing, Property 15: Policy validation
  test('Property 15: the API server refuses what the parser calls missing or malformed, naming the field', async () => {
    const { namespace, post } = cluster();
    const path = `${pathIn('optipod.io', (await namespace()).name)}?dryRun=All`;
    const quantity = fc.oneof(
      fc.integer({ min: -2, max: 4 }),
      fc.constantFrom('100m', '2', '1500m', '0', '1Gi', '512Mi', 'abc', '', '1e3'),
    );
    const bounds = fc.record({ min: quantity, max: quantity }, { requiredKeys: [] });
    const spec = fc.record(
      {
        mode: fc.constantFrom('Auto', 'Recommend', 'Disabled', 'auto', '', 1),
        weight: fc.constantFrom(0, 1, 1000, 1001),
        selector: fc.constantFrom({}, { namespaces: {} }, { workloadSelector: {} }, { workloadTypes: {} }),
        metricsConfig: fc.record(
          {
            provider: fc.constantFrom('prometheus', 'metrics-server', 'custom', 'datadog'),
            safetyFactor: fc.constantFrom(0.99, 1, 1.5),
            rollingWindow: fc.constantFrom('24h', '7d', 'x', '-1h'),
            percentile: fc.constantFrom('P50', 'P95', 'P42'),
          },
          { requiredKeys: ['provider'] },
        ),
        resourceBounds: fc.record({ cpu: bounds, memory: bounds }, { requiredKeys: ['cpu'] }),
        updateStrategy: fc.constantFrom({}, { minChange: '5%' }, { minChange: '5' }, { allowRecreate: 'yes' }),
      },
      { requiredKeys: ['metricsConfig', 'resourceBounds'] },
    );
    await fc.assert(
      fc.asyncProperty(spec, async (wanted) => {
        const { status, text } = await post(path, {
          apiVersion: 'optipod.io/v1alpha1',
          ...policy('generated', wanted),
        });
        const checked = checkPolicySpec(JSON.parse(JSON.stringify(wanted)));
        expect([status, text]).toEqual([checked.ok ? 201 : 422, expect.any(String)]);
        if (!checked.ok) expect(text).toContain('spec.');
      }),
      { numRuns: 100 },
    );
  });
});
