/** Incident: a policy of others, asked about new pods alone, does not let in what Stowage made of them. */
import { expect, test } from 'vitest';
import type { KubeObject, MutatingWebhookConfiguration, Pod } from '../api/core.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { stringAt } from '../cluster/apiserver/json.ts';
import { askAboutDaemons } from './testing/ask-about-daemons.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

/** From now on no pod is let in that requests another amount of memory; asked after the operator. */
async function insistOn(world: EmbeddedWorld, memory: string): Promise<void> {
  const name = 'zz-strict';
  world.server.core.localWebhooks.set(`default/${name}`, (review) => {
    const { request } = review as unknown as { readonly request: { readonly object: Pod } };
    const allowed = request.object.spec?.containers[0]?.resources?.requests?.['memory'] === memory;
    return {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: stringAt(review, 'request', 'uid'), allowed, status: { message: `memory must be ${memory}` } },
    };
  });
  const hook = {
    name: `${name}.stowage.test`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { service: { namespace: 'default', name } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  };
  const configuration: MutatingWebhookConfiguration = { metadata: { name }, webhooks: [hook] };
  await world.api.create(resources.mutatingWebhookConfigurations, configuration);
}

test.each(['Deployment', 'StatefulSet', 'DaemonSet'] as const)(
  'new pods of a %s that are refused with the size in force are let in as its template says, and resized once they run',
  async (kind) => {
    const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0 });
    await askAboutDaemons(world);
    const memory = '512Mi';
    const web = loadedDeployment({ replicas: 3, requests: { cpu: '500m', memory }, limits: { memory } });
    const { replicas, selector, template } = web.spec ?? {};
    const specs = {
      Deployment: web.spec,
      StatefulSet: { replicas, selector, template, serviceName: 'web' },
      DaemonSet: { selector, template },
    };
    const type = {
      Deployment: resources.deployments,
      StatefulSet: resources.statefulSets,
      DaemonSet: resources.daemonSets,
    }[kind] as unknown as ResourceType<KubeObject>;
    await world.api.create(type, { ...web, kind, spec: specs[kind] } as KubeObject, inShop);
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto' });
    const allHaveLess = async () => (await requestsOf(world)).every((requests) => requests['memory'] === '120Mi');
    await world.until('all have less', allHaveLess, 10 * MINUTE);
    await insistOn(world, memory);
    const pods = await sizedPods(world);
    const [gone] = pods;
    await world.api.delete(resources.pods, gone?.metadata?.name ?? '', inShop);
    await world.until(
      'another takes its place',
      async () => (await sizedPods(world)).length === pods.length,
      5 * MINUTE,
    );
    await world.until('it has less as well', allHaveLess, 10 * MINUTE);
  },
);

test.each([
  ['less', '512Mi'],
  ['more', '64Mi'],
])('a template with %s whose pods are refused is put back, and hardly tried again', async (_, memory) => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 4, requests: { cpu: '200m', memory } });
  await untilReady(world, 'web', 4);
  await insistOn(world, memory);
  await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
  const told = async () => (await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted');
  await world.until('taken back', async () => (await told()).length > 0, 5 * MINUTE);
  expect((await told())[0]?.note).toMatch(/its new pods are refused/);
  await untilReady(world, 'web', 4);
  const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
  await world.clock.advance(60 * MINUTE);
  const later = (await world.api.get(resources.deployments, 'web', inShop)).metadata;
  // A pause that doubles, and an hour of it after the third time.
  expect((later?.generation ?? 0) - (metadata?.generation ?? 0)).toBeLessThanOrEqual(4);
  expect(new Set((await requestsOf(world)).map((requests) => requests['memory']))).toEqual(new Set([memory]));
});

test('a template with more whose pods are refused is put back by the next leader as well', async () => {
  const world = await startSizedWorld();
  await world.startOperator('test_2');
  const memory = '64Mi';
  await deployLoaded(world, { replicas: 4, requests: { cpu: '200m', memory } });
  await untilReady(world, 'web', 4);
  await insistOn(world, memory);
  await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
  const annotationsOf = async () => (await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations;
  const isWatched = async () => (await annotationsOf())?.['optipod.io/watched-changes']?.includes('Recreate') === true;
  await world.until('begun', isWatched);
  world.cutOff('test_1');
  const told = async () => (await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted');
  await world.until('taken back', async () => (await told()).length > 0, 5 * MINUTE);
  await untilReady(world, 'web', 4);
  expect(new Set((await requestsOf(world)).map((requests) => requests['memory']))).toEqual(new Set([memory]));
});
