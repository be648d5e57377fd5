import { describe, expect, test } from 'vitest';
import type { Pod, ReplicaSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { type EmbeddedWorld, namespaceObject } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  firstBlock,
  inShop,
  MINUTE,
  patchDeployment,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';

const inTenant = { namespace: 'tenant' };
/** What keeps the garbage collector from taking away what names an owner elsewhere. */
const finalizers = ['tenant.example/stay'];

async function ownersOfWeb(
  world: EmbeddedWorld,
): Promise<{ readonly deployment: string; readonly replicaSet: ReplicaSet }> {
  const deployment = await world.api.get(resources.deployments, 'web', inShop);
  const { items } = await world.api.list(resources.replicaSets, inShop);
  const [replicaSet] = items;
  if (replicaSet === undefined) throw new Error('web has no ReplicaSet');
  return { deployment: deployment.metadata?.uid ?? '', replicaSet };
}

function ownedBy(kind: string, name: string, uid: string) {
  return [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }];
}

describe('a tenant who names the workload of another namespace as owner of his objects', () => {
  test('holds up none of its moves with a ReplicaSet', async () => {
    const world = await startWorld();
    await world.api.create(resources.namespaces, namespaceObject('tenant'));
    await deploy(world, 4, policy(0, 0));
    const { deployment, replicaSet } = await ownersOfWeb(world);
    const forged: ReplicaSet = {
      ...replicaSet,
      metadata: {
        ...inTenant,
        name: 'web-forged',
        labels: { app: 'web', 'pod-template-hash': 'forged' },
        finalizers,
        ownerReferences: ownedBy('Deployment', 'web', deployment),
      },
    };
    await world.api.create(resources.replicaSets, forged, inTenant);
    await world.clock.advance(MINUTE);
    await annotate(world, policy(50, 0));
    await world.clock.advance(5_000);
    expect(firstBlock(world, 'Deployment', 'web')).not.toBe('RolloutInProgress');
    await untilSides(world, 'web', 2, 2);
  });

  test('takes none of its places with pods, whether they come to be or not', async () => {
    const world = await startWorld();
    await world.api.create(resources.namespaces, namespaceObject('tenant'));
    await deploy(world, 2, policy(50, 0));
    const { replicaSet } = await ownersOfWeb(world);
    const { name = '', uid = '' } = replicaSet.metadata ?? {};
    for (let index = 0; index < 4; index++) {
      const pod: Pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          ...inTenant,
          name: `forged-${index}`,
          finalizers,
          ownerReferences: ownedBy('ReplicaSet', name, uid),
        },
        spec: { containers: [{ name: 'app', image: 'a' }] },
      };
      const created = await world.api.create(resources.pods, pod, inTenant);
      expect(created.spec?.nodeSelector).toBeUndefined();
      expect(created.metadata?.annotations?.['spotalis.io/slot']).toBeUndefined();
    }
    await patchDeployment(world, { replicas: 6 });
    await untilReady(world, 'web', 6);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 3, 'on-demand': 3, pending: 0 });
    expect(world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' })?.plan.pods).toHaveLength(6);
    expect(world.evictions).toEqual([]);
  });
});
