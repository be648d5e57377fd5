/** The rights of the chart, engine by engine and scope by scope: each is used by a call that was seen, and each call that was seen is granted. */
import { describe, expect, test } from 'vitest';
import { OPERATOR, tellCertificateStory, tellPlacementStory } from './placement-story.ts';
import type { Manifest } from './render.ts';
import { type Grant, grantsOf, readRights, rightsOf, without } from './rights.ts';
import { tellRightsizingStory } from './rightsizing-story.ts';

const rightsIn = (grants: readonly Grant[]): Set<string> => new Set(grants.map(({ right }) => right));
const difference = (from: ReadonlySet<string>, those: ReadonlySet<string>): string[] =>
  [...from].filter((right) => !those.has(right)).sort();
const label = ({ role, right }: Grant): [string, string, Grant] => [right, role, { role, right }];

const scopes = {
  cluster: { roles: readRights('deploy/rbac.yaml', 'deploy/rbac-argo.yaml'), config: '' },
  namespace: {
    roles: readRights('deploy/rbac-namespaced.yaml'),
    config: 'controllers:\n  watchNamespaces: [shop]\nplacement:\n  owners: []',
  },
} as const;

describe.each(Object.entries(scopes))('placement, scope %s', (_scope, { roles, config }) => {
  const grants = grantsOf(roles);

  test('works with these rights alone', async () => {
    expect((await tellPlacementStory(roles, config)).sides).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
  });

  test('everything that is asked for is granted', async () => {
    const { used } = await tellPlacementStory(roles, config);
    expect(difference(used, rightsIn(grants))).toEqual([]);
  });

  test('everything that is granted is asked for', async () => {
    const { used } = await tellPlacementStory(roles, config);
    expect(difference(rightsIn(grants), used)).toEqual([]);
  });

  test('nothing is granted twice to the same place', () => {
    const rights = grants.map(({ role, right }) => `${right} in ${role.split(' ').slice(1, -1).join(' ')}`);
    expect(rights.filter((right, index) => rights.indexOf(right) !== index)).toEqual([]);
  });

  test.each(grants.map(label))('without "%s" of %s something is asked for in vain', async (right, _role, grant) => {
    const less = without(roles, grant);
    expect(rightsIn(grantsOf(less))).not.toContain(right);
    const { used } = await tellPlacementStory(less, config);
    expect(difference(used, rightsIn(grantsOf(less)))).toContain(right);
  });
});

/** What an access log cannot show: a patch by server-side apply of what does not exist needs `create`, too (test/cluster/install.test.ts). */
const byApply = (right: string): string => right.replace(/^create/, 'patch');
/** Told by the story of placement: one recorder writes the events of all engines. */
const REPEATED_EVENTS = 'patch events.k8s.io/events';
const isOperators = ({ metadata }: Manifest): boolean => !metadata?.name?.endsWith('-certificates');

describe('rightsizing', () => {
  const roles = rightsOf(readRights('deploy/profiles/rightsizing.yaml'), 'spotalis-system/stowage').filter(isOperators);
  const grants = grantsOf(roles);
  const told = tellRightsizingStory(roles);

  test('works with these rights alone: in place, and by templates', async () => {
    expect(await told).toMatchObject({ requests: ['240m', '240m'], template: '240m' });
  });

  test('everything that is asked for is granted', async () => {
    expect(difference((await told).used, rightsIn(grants))).toEqual([]);
  });

  test('everything that is granted is asked for', async () => {
    const { used } = await told;
    const idle = difference(rightsIn(grants), used).filter((right) => right !== REPEATED_EVENTS);
    expect(idle.filter((right) => !used.has(byApply(right)))).toEqual([]);
    expect(idle).toEqual(['create /configmaps']);
  });

  const tried = grants.filter(({ right }) => right !== REPEATED_EVENTS && right !== 'create /configmaps');
  test.each(tried.map(label))('without "%s" of %s something is asked for in vain', async (right, _role, grant) => {
    const less = without(roles, grant);
    const { used } = await tellRightsizingStory(less);
    expect(difference(used, rightsIn(grantsOf(less)))).toContain(right);
  });
});

describe('certificates of the operator', () => {
  const roles = readRights('deploy/rbac-self-certificates.yaml');
  const grants = grantsOf(roles);

  test('what is asked for and what is granted are the same', async () => {
    const used = await tellCertificateStory(roles);
    expect([...used].sort()).toEqual([...rightsIn(grants)].sort());
  });

  test.each(grants.map(label))('without "%s" of %s something is asked for in vain', async (right, _role, grant) => {
    const less = without(roles, grant);
    expect(difference(await tellCertificateStory(less), rightsIn(grantsOf(less)))).toContain(right);
  });
});

test('the account of the roles is the one that is tried', () => {
  const [account] = readRights('deploy/rbac.yaml').filter(({ kind }) => kind === 'ServiceAccount');
  expect(`system:serviceaccount:${account?.metadata?.namespace}:${account?.metadata?.name}`).toBe(OPERATOR);
});
