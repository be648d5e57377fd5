/** The CRDs of OptimizationPolicy on the API server: taken as they are, with their defaults, rules, columns and both groups. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type CustomResourceDefinition, customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { policyGroups } from '../../src/api/optimization-policy.ts';
import { checkPolicySpec } from '../../src/api/optimization-policy-check.ts';
import { at, type Cluster, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Answer, Json } from './endpoint.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const policyCrds = crdDescriptions
  .filter(({ kind }) => kind === 'OptimizationPolicy')
  .map((description) => customResourceDefinition(description));

/** The least a policy has to say. */
const least = {
  mode: 'Recommend',
  selector: { workloadSelector: { matchLabels: { optimize: 'true' } } },
  metricsConfig: { provider: 'prometheus' },
  resourceBounds: { cpu: { min: '100m', max: 4 }, memory: { min: '128Mi', max: '8Gi' } },
  updateStrategy: {},
};

const policy = (name: string, spec: object): Json => ({ kind: 'OptimizationPolicy', metadata: { name }, spec });
const pathIn = (group: string, namespace: string): string =>
  `/apis/${group}/v1alpha1/namespaces/${namespace}/optimizationpolicies`;

/** Creates the definition, or brings one that is there up to date, and waits until its kind is served. */
async function install(cluster: Cluster, crd: CustomResourceDefinition): Promise<void> {
  const path = `${CRDS}/${crd.metadata.name}`;
  await cluster.must(cluster.apply(`${path}?fieldManager=stowage-test&force=true`, crd));
  await cluster.eventually(async () => {
    const conditions = at((await cluster.get(path)).body, 'status', 'conditions');
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Established', status: 'True' }));
    const served = await cluster.get(`/apis/${crd.spec.group}/v1alpha1/optimizationpolicies?limit=1`);
    expect(served.status).toBe(200);
  });
}

function expectRefusal({ status, body }: Answer, message: string): void {
  expect([status, body['message']]).toEqual([422, expect.stringContaining(message)]);
}

describeOnBackends('optimization policies', (cluster) => {
  beforeAll(async () => {
    for (const crd of policyCrds) await install(cluster(), crd);
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

  // Feature: k8s-workload-rightsizing, Property 31: Upgrade preservation
  test('Property 31: a newer definition keeps the objects and their status', async () => {
    const { namespace, post, must, get, mergePatch } = cluster();
    const group = 'optipod.io';
    const current = policyCrds.find(({ spec }) => spec.group === group);
    if (current === undefined) throw new Error('no definition');
    const path = pathIn(group, (await namespace()).name);
    await must(post(path, { apiVersion: `${group}/v1alpha1`, ...policy('kept', { ...least, weight: 7 }) }));
    const workloads = [{ namespace: 'a', kind: 'Deployment', name: 'web', status: 'Applied', reason: 'Applied' }];
    await must(mergePatch(`${path}/kept/status`, { status: { workloads, workloadsDiscovered: 1 } }));
    const before = (await get(`${path}/kept`)).body;

    const newer = structuredClone(current);
    const spec = at(newer, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties');
    if (typeof spec !== 'object' || spec === null) throw new Error('no spec');
    Reflect.set(spec, 'futureField', { type: 'string', default: 'new', description: 'Of a later version.' });
    const touched = async (note: string): Promise<Json> =>
      must(mergePatch(`${path}/kept`, { metadata: { annotations: { note } } }));
    await install(cluster(), newer);
    await cluster().eventually(async () => {
      const after = await touched('after');
      expect(after['spec']).toEqual({ ...Object(before['spec']), futureField: 'new' });
      expect(after['status']).toEqual(before['status']);
      expect(textAt(after, 'metadata', 'uid')).toBe(textAt(before, 'metadata', 'uid'));
    });
    await install(cluster(), current);
    await cluster().eventually(async () => {
      const back = await touched('back');
      expect([back['spec'], back['status']]).toEqual([before['spec'], before['status']]);
    });
  });

  // Feature: k8s-workload-rightsizing, Property 31: Upgrade preservation
  test('Property 31: objects and status made under the definition OptiPod ships are kept when ours takes its place', async () => {
    const { namespace, post, must, get, mergePatch } = cluster();
    const group = 'optipod.optipod.io';
    const current = policyCrds.find(({ spec }) => spec.group === group);
    if (current === undefined) throw new Error('no definition');
    await install(cluster(), shippedDefinition(current));
    const path = pathIn(group, (await namespace()).name);
    // Its schema takes any text for a duration; its own client then fails on this one.
    const odd = { ...least, metricsConfig: { provider: 'prometheus', rollingWindow: '7 days' } };
    for (const [name, spec] of Object.entries({ plain: least, odd }))
      await must(post(path, { apiVersion: `${group}/v1alpha1`, ...policy(name, spec) }));
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'PolicyValid',
      message: 'Policy is valid',
      lastTransitionTime: '2026-01-31T00:00:00Z',
    };
    const status = { conditions: [condition], workloadsDiscovered: 3, workloadsByType: { deployments: 3 } };
    await must(mergePatch(`${path}/plain/status`, { status }));
    await install(cluster(), current);
    const { body } = await get(`${path}/plain`);
    expect(body['status']).toEqual(status);
    expect(checkPolicySpec(body['spec'])).toMatchObject({ ok: true });
    expect(checkPolicySpec((await get(`${path}/odd`)).body['spec'])).toEqual({
      ok: false,
      problems: [expect.stringContaining('"7 days" is not a duration')],
    });
    // That it is invalid can be told in its status, and what was invalid before can be mended part by part.
    const refused = { ...condition, status: 'False', reason: 'ValidationFailed' };
    const told = await mergePatch(`${path}/odd/status`, { status: { conditions: [refused] } });
    expect([told.status, at(told.body, 'status', 'conditions', 0, 'reason')]).toEqual([200, 'ValidationFailed']);
    const mended = await mergePatch(`${path}/odd`, { spec: { metricsConfig: { rollingWindow: '7d' } } });
    expect([mended.status, checkPolicySpec(mended.body['spec']).ok]).toEqual([200, true]);
  });
});

/** A definition as loose as the one OptiPod ships: no rules, no patterns of durations, none of our fields. */
function shippedDefinition(current: CustomResourceDefinition): CustomResourceDefinition {
  const definition = structuredClone(current);
  const properties = at(definition, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema', 'properties');
  const text = { type: 'string' };
  const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  Object.assign(Object(properties), {
    spec: {
      type: 'object',
      required: ['mode', 'selector', 'metricsConfig', 'resourceBounds', 'updateStrategy'],
      properties: {
        mode: text,
        weight: { type: 'integer', default: 100 },
        selector: loose,
        metricsConfig: { type: 'object', properties: { provider: text, rollingWindow: { ...text, default: '24h' } } },
        resourceBounds: loose,
        updateStrategy: loose,
        reconciliationInterval: { ...text, default: '5m' },
      },
    },
  });
  return definition;
}
