/**
 * A cluster that enforces roles, with somebody who may read one namespace, somebody who may restore sizes in it, and an
 * administrator.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { Access } from '../../cluster/apiserver/access-log.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  readManifests,
} from '../../operator/testing/embedded-world.ts';
import { annotate, deploy, policy } from '../../operator/testing/steps.ts';
import { kubeconfigText } from '../demo/demo-kubeconfig.ts';
import { bindingOf, type RoleRule, readerRole, restoreRole } from './tenant.ts';

const ALICE = 'alice';
const BOB = 'bob';
const role = readerRole('shop');
const rbacType = (plural: string, kind: string, namespaced: boolean): ResourceType => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced,
});
const roles = rbacType('roles', 'Role', true);
const clusterRoles = rbacType('clusterroles', 'ClusterRole', false);
const clusterBindings = rbacType('clusterrolebindings', 'ClusterRoleBinding', false);

function policyIn(namespace: string): KubeObject {
  const object = {
    apiVersion: 'optipod.io/v1alpha1',
    kind: 'OptimizationPolicy',
    metadata: { name: `of-${namespace}`, namespace },
    spec: {
      mode: 'Recommend',
      selector: { namespaces: { allow: ['shop'] } },
      metricsConfig: { provider: 'metrics-server' },
      resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '32Mi', max: '8Gi' } },
      updateStrategy: {},
    },
  };
  return object;
}

type User = 'alice' | 'bob' | 'root';

export interface TenantWorld {
  readonly world: EmbeddedWorld;
  /** Paths by user. */
  readonly kubeconfigs: Readonly<Record<User, string>>;
  /** Writes a file that goes with the world. @returns its path. */
  file(name: string, text: string): string;
  /** With one resource taken out of the Role. */
  without(resource: string, work: () => Promise<void>): Promise<void>;
  /** With the right to list these in the whole cluster. */
  withCluster(names: readonly string[], work: () => Promise<void>): Promise<void>;
  /** What the reader asked for while `work` ran. */
  askedDuring(work: () => Promise<unknown>): Promise<readonly Access[]>;
  stop(): Promise<void>;
}

/**
 * Four replicas that admission put on spot; then all of them are to be on on-demand, and nobody is there to move them.
 */
export async function startTenantWorld(): Promise<TenantWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-tenant-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const kubeconfigs: Record<User, string> = { alice: '', bob: '', root: '' };
  const objects = [
    ...readManifests('rbac.yaml').filter(({ kind }) => kind !== 'Namespace'),
    ...['shop', 'other'].map(namespaceObject),
    ...crdDescriptions.map(customResourceDefinition),
    role,
    bindingOf('shop', ALICE, { kind: 'Role', name: 'stowage-reader' }),
    restoreRole('shop'),
    bindingOf('shop', BOB, { kind: 'Role', name: 'stowage-restore' }),
  ];
  const user = 'system:serviceaccount:spotalis-system:stowage';
  const world = await createEmbeddedWorld({
    spotNodes: 2,
    onDemandNodes: 2,
    metricsEveryMillis: 60_000,
    rbac: { objects, user },
  });
  await world.startOperator('one_1');
  await deploy(world, 4, policy(100, 0));
  await world.cluster.apply(['shop', 'spotalis-system'].map(policyIn));
  const other = deploymentObject({ name: 'filler', replicas: 1 });
  await world.api.create(
    resources.deployments,
    { ...other, metadata: { ...other.metadata, namespace: 'other' } },
    { namespace: 'other' },
  );
  world.cutOff('one_1');
  await annotate(world, policy(0, 0));
  await world.clock.advance(60_000);
  const { url } = await world.server.listen();
  for (const [user, groups] of [
    ['alice', ['system:authenticated']],
    ['bob', ['system:authenticated']],
    ['root', ['system:masters']],
  ] as const) {
    world.server.authentication.addToken(`${user}-token`, { name: user, groups });
    kubeconfigs[user] = file(user, kubeconfigText({ url, authority: '', user, token: `${user}-token` }));
  }

  async function without(resource: string, work: () => Promise<void>): Promise<void> {
    const put = (rules: readonly RoleRule[]) =>
      world.api.patch(roles, 'stowage-reader', { type: 'merge', body: { rules } }, { namespace: 'shop' });
    await put(role.rules.map((rule) => ({ ...rule, resources: rule.resources.filter((each) => each !== resource) })));
    try {
      await work();
    } finally {
      await put(role.rules);
    }
  }

  async function withCluster(names: readonly string[], work: () => Promise<void>): Promise<void> {
    const rules = [{ apiGroups: [''], resources: names, verbs: ['list'] }];
    const wide: KubeObject & { rules: typeof rules } = { kind: 'ClusterRole', metadata: { name: 'wide' }, rules };
    await world.api.create(clusterRoles, wide);
    await world.api.create(clusterBindings, bindingOf(undefined, ALICE, { kind: 'ClusterRole', name: 'wide' }));
    try {
      await work();
    } finally {
      await world.api.delete(clusterBindings, `wide-${ALICE}`);
      await world.api.delete(clusterRoles, 'wide');
    }
  }

  async function askedDuring(work: () => Promise<unknown>): Promise<readonly Access[]> {
    world.server.accessLog.clear();
    await work();
    return world.server.accessLog.entries().filter(({ user }) => user === ALICE);
  }

  return {
    world,
    kubeconfigs,
    file,
    without,
    withCluster,
    askedDuring,
    async stop() {
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
