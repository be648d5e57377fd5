/** What becomes of OptimizationPolicies when another definition takes the place of theirs. */
import { beforeAll, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../src/api/crd/crd.ts';
import { checkPolicySpec } from '../../src/api/optimization-policy-check.ts';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { installDefinition, least, pathIn, policy, policyCrds } from './policy-objects.ts';

describeOnBackends('upgrades of optimization policies', (cluster) => {
  beforeAll(async () => {
    for (const crd of policyCrds) await installDefinition(cluster(), crd);
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
    await installDefinition(cluster(), newer);
    await cluster().eventually(async () => {
      const after = await touched('after');
      expect(after['spec']).toEqual({ ...Object(before['spec']), futureField: 'new' });
      expect(after['status']).toEqual(before['status']);
      expect(textAt(after, 'metadata', 'uid')).toBe(textAt(before, 'metadata', 'uid'));
    });
    await installDefinition(cluster(), current);
    await cluster().eventually(async () => {
      const back = await touched('back');
      expect([back['spec'], back['status']]).toEqual([before['spec'], before['status']]);
    });
  });

  // Feature: k8s-workload-rightsizing, Property 31: Upgrade preservation
  test('Property 31: objects and status made under the definition OptiPod ships are kept when ours takes its place', async () => {
    const { namespace, post, must, get, mergePatch, eventually } = cluster();
    const group = 'optipod.optipod.io';
    const current = policyCrds.find(({ spec }) => spec.group === group);
    if (current === undefined) throw new Error('no definition');
    await installDefinition(cluster(), shippedDefinition(current));
    const path = pathIn(group, (await namespace()).name);
    // Its schema takes any text for a duration; its own client then fails on this one.
    const odd = { ...least, metricsConfig: { provider: 'prometheus', rollingWindow: '7 days' } };
    const apiVersion = `${group}/v1alpha1`;
    // Its kind was served before, too: by the answer to this it is seen which definition is in force.
    const untilOddIs = (status: number) =>
      eventually(async () =>
        expect((await post(`${path}?dryRun=All`, { apiVersion, ...policy('probe', odd) })).status).toBe(status),
      );
    await untilOddIs(201);
    for (const [name, spec] of Object.entries({ plain: least, odd }))
      await must(post(path, { apiVersion, ...policy(name, spec) }));
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'PolicyValid',
      message: 'Policy is valid',
      lastTransitionTime: '2026-01-31T00:00:00Z',
    };
    const status = { conditions: [condition], workloadsDiscovered: 3, workloadsByType: { deployments: 3 } };
    await must(mergePatch(`${path}/plain/status`, { status }));
    await installDefinition(cluster(), current);
    await untilOddIs(422);
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
