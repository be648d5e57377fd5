import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  readManifests,
} from './testing/embedded-world.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
type RoleObject = KubeObject & { readonly rules?: readonly Rule[] };

const manifests: readonly RoleObject[] = readManifests('rbac.yaml');
const user = 'system:serviceaccount:spotalis-system:stowage';

/** A life that needs every permission: a burst whose owners are read live, moves, corrections of stamps, events, the lease. */
async function live(objects: readonly RoleObject[]): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld({ rbac: { objects, user } });
  onTestFinished(() => world.stop());
  const inShop = { namespace: 'shop' };
  const annotate = (value: string) =>
    world.api.patch(
      resources.deployments,
      'web',
      { type: 'merge', body: { metadata: { annotations: { 'spotalis.io/spot-percentage': value } } } },
      inShop,
    );
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  const annotations = { 'spotalis.io/spot-percentage': '0' };
  await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 4, annotations }), inShop);
  await world.clock.advance(30_000);
  await annotate('50');
  await world.clock.advance(90_000);
  // The counts stay right, the sides of the slots change.
  const floor = { 'spotalis.io/spot-percentage': '100', 'spotalis.io/min-on-demand': '2' };
  await world.api.patch(
    resources.deployments,
    'web',
    { type: 'merge', body: { metadata: { annotations: floor } } },
    inShop,
  );
  await world.clock.advance(90_000);
  return world;
}

/** `verb group/resource` of everything the operator asked for. */
function used(world: EmbeddedWorld): Set<string> {
  const own = world.server.accessLog.entries().filter((access) => access.user === user);
  return new Set(
    own.map(
      ({ verb, group, resource, subresource }) =>
        `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`,
    ),
  );
}

function granted(objects: readonly RoleObject[]): Set<string> {
  const grants = objects.flatMap(({ rules = [] }) =>
    rules.flatMap(({ apiGroups, resources: names, verbs }) =>
      apiGroups.flatMap((group) => names.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${name}`))),
    ),
  );
  return new Set(grants);
}

describe('deploy/rbac.yaml', () => {
  test('is enough: the workload converges to 2/2 with exactly these permissions, and restamps', async () => {
    const world = await live(manifests);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
    expect(world.evictions).toHaveLength(2);
    expect(world.operatorWrites).toContain('patch pods');
    expect(world.operatorWrites).toContain('create events');
  });

  test('nothing is used that is not granted', async () => {
    const grants = granted(manifests);
    const missing = [...used(await live(manifests))].filter((access) => !grants.has(access));
    expect(missing).toEqual([]);
  });

  test('nothing is granted that is never used, but reads of owners and growing events', async () => {
    const uses = used(await live(manifests));
    const idle = [...granted(manifests)].filter((grant) => !uses.has(grant));
    const rare = new Set([
      'get apps/deployments',
      'get apps/replicasets',
      'get apps/statefulsets',
      'patch events.k8s.io/events',
    ]);
    // Where the API server streams the first list as a watch, listing is only the way for older ones.
    const isFallback = (grant: string): boolean =>
      grant.startsWith('list ') && uses.has(grant.replace('list', 'watch'));
    expect(idle.filter((grant) => !rare.has(grant) && !isFallback(grant))).toEqual([]);
  });

  test('workloads, secrets and configuration are never written', () => {
    for (const grant of granted(manifests)) {
      const [verb = '', resource = ''] = grant.split(' ');
      if (['get', 'list', 'watch'].includes(verb)) continue;
      expect(['/pods', '/pods/eviction', 'events.k8s.io/events', 'coordination.k8s.io/leases']).toContain(resource);
    }
  });

  test.each(['pods', 'nodes', 'namespaces', 'deployments', 'replicasets', 'poddisruptionbudgets'])(
    'without the right to list %s nothing is disrupted',
    async (resource) => {
      const without = manifests.map((object) =>
        object.rules === undefined
          ? object
          : {
              ...object,
              rules: object.rules.map((rule) => ({
                ...rule,
                resources: rule.resources.filter((name) => name !== resource),
              })),
            },
      );
      const world = await live(without);
      expect(world.evictions).toEqual([]);
    },
  );
});
