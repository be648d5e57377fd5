/**
 * The rights of the chart, engine by engine and scope by scope: each is used by a call that was seen, and each call that was seen is
 * granted. That the API server reads them the same way, and refuses each when it is taken away: test/cluster/install-rights.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { OPERATOR, tellCertificateStory, tellPlacementStory } from './placement-story.ts';
import { findHelm, type Manifest, render } from './render.ts';
import { grantsOf, readRights, rightsOf } from './rights.ts';
import { tellRightsizingStory } from './rightsizing-story.ts';

const { programs, missing } = await findHelm();
const ACCOUNT = 'spotalis-system/stowage';
const IN_SHOP = 'controllers: { watchNamespaces: [shop] }';
const isOperators = ({ metadata }: Manifest): boolean => !metadata?.name?.endsWith('-certificates');
const accountIn = (objects: readonly Manifest[]): readonly Manifest[] =>
  objects.filter(({ kind }) => kind === 'ServiceAccount');

function namespacedRightsizing(): readonly Manifest[] {
  const set = [
    'rbac.scope=namespace',
    'config.controllers.watchNamespaces={shop}',
    'webhook.enabled=false',
    'engines.placement=false',
    'engines.rightsizing=true',
  ];
  const objects = render(programs, { set });
  return [...accountIn(objects), ...rightsOf(objects, ACCOUNT)];
}

/** What stands for a right that the story has no use for, and why. */
const byOther: Readonly<Record<string, { readonly used: string; readonly why: string }>> = {
  'create /configmaps': { used: 'patch /configmaps', why: 'a patch by server-side apply of what does not exist' },
  'patch events.k8s.io/events': {
    used: 'create events.k8s.io/events',
    why: 'one recorder, its repetitions in the story of placement',
  },
};

const placementRoles = readRights('deploy/rbac.yaml', 'deploy/rbac-argo.yaml');
const namespacedPlacementRoles = readRights('deploy/rbac-namespaced.yaml');
const rightsizingRoles = rightsOf(readRights('deploy/profiles/rightsizing.yaml'), ACCOUNT).filter(isOperators);
const certificateRoles = readRights('deploy/rbac-self-certificates.yaml');
const placement = tellPlacementStory(placementRoles);
const namespacedPlacement = tellPlacementStory(namespacedPlacementRoles, `${IN_SHOP}\nplacement: { owners: [] }`);
const rightsizing = tellRightsizingStory(rightsizingRoles, { isAdmitting: true });
const usedBy = async (story: Promise<{ readonly used: ReadonlySet<string> }>): Promise<ReadonlySet<string>> =>
  (await story).used;

test('with these rights alone each engine does all its work, in both scopes', async () => {
  for (const story of [placement, namespacedPlacement])
    expect((await story).sides).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
  expect(await rightsizing).toMatchObject({
    requests: ['240m', '240m'],
    template: '240m',
    reborn: ['240m', '240m'],
  });
});

interface Proof {
  readonly title: string;
  readonly roles: readonly Manifest[];
  readonly used: Promise<ReadonlySet<string>>;
}

function prove({ title, roles, used }: Proof): void {
  const grants = grantsOf(roles);
  const granted = new Set(grants.map(({ right }) => right));

  describe(title, () => {
    test('everything that is asked for is granted', async () => {
      expect([...(await used)].filter((right) => !granted.has(right))).toEqual([]);
    });

    test('nothing is granted twice to the same place', () => {
      const rights = grants.map(({ role, right }) => `${right} in ${role.split(' ').slice(1, -1).join(' ')}`);
      expect(rights.filter((right, index) => rights.indexOf(right) !== index)).toEqual([]);
    });

    test.each(grants.map(({ role, right }) => [right, role]))('"%s" of %s is asked for', async (right) => {
      const asked = await used;
      expect([...asked]).toContain(asked.has(right) ? right : byOther[right]?.used);
    });
  });
}

prove({ title: 'placement', roles: placementRoles, used: usedBy(placement) });
prove({ title: 'placement in one namespace', roles: namespacedPlacementRoles, used: usedBy(namespacedPlacement) });
prove({ title: 'rightsizing', roles: rightsizingRoles, used: usedBy(rightsizing) });
prove({ title: 'certificates of the operator', roles: certificateRoles, used: tellCertificateStory(certificateRoles) });
describe.skipIf(missing !== undefined)('with helm', () => {
  const roles = missing === undefined ? namespacedRightsizing() : [];
  const story =
    missing === undefined ? tellRightsizingStory(roles, { config: IN_SHOP, isAdmitting: false }) : rightsizing;
  prove({ title: 'rightsizing in one namespace', roles, used: usedBy(story) });

  test('it does all its work in its one namespace', async () => {
    expect(await story).toMatchObject({ requests: ['240m', '240m'], template: '240m' });
  });
});

test('the account of the roles is the one that is tried', () => {
  const [account] = accountIn(readRights('deploy/rbac.yaml'));
  expect(`system:serviceaccount:${account?.metadata?.namespace}:${account?.metadata?.name}`).toBe(OPERATOR);
});
