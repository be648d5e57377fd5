import { expect, test } from 'vitest';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createPolicySelector, discover } from './policy-selector.ts';

const labels = { optimize: 'true' };
const spec = { selector: { workloadSelector: { matchLabels: labels } } };
const own = validPolicy({ namespace: 'shop', name: 'own', spec });
const rival = validPolicy({ namespace: 'shop', name: 'rival', uid: 'rival', spec });
const elsewhere = validPolicy({ namespace: 'tenant', name: 'elsewhere', uid: 'elsewhere', spec });
const web = aSizedWorkload({ name: 'web', uid: 'web', labels });
const api = aSizedWorkload({ name: 'api', uid: 'api', labels });

const tenancyOf = (...allowed: readonly string[]) => ({
  tenancy: { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set(allowed) },
});

test('who has the say is found anew when a policy changes, or the configuration', () => {
  let known: readonly PolicyRecord[] = [own];
  let settings = tenancyOf();
  const view = createSizingSnapshot({});
  const select = createPolicySelector({ view, policies: { policies: () => known }, settings: () => settings });
  expect(select(web).winner).toBe(own);
  known = [];
  expect(select(web).winner).toBeUndefined();
  known = [elsewhere];
  expect(select(web).winner).toBeUndefined();
  settings = tenancyOf('tenant');
  expect(select(web).winner).toBe(elsewhere);
});

test('a policy is about all that match it, those of another policy as well; one that is being deleted counts no more', () => {
  const view = createSizingSnapshot({});
  const policies = { policies: () => [own, rival] };
  const select = createPolicySelector({ view, policies, settings: () => tenancyOf() });
  const workloads = [web, { ...api, deleting: true }, aSizedWorkload({ uid: 'other', labels: {} })];
  const tie = (policy: PolicyRecord) => ({ policy, example: expect.stringContaining('web') });
  expect(discover(own, workloads, select)).toEqual({
    discovered: { Deployment: 1 },
    owned: new Set(['Deployment/shop/web']),
    tie: tie(rival),
  });
  expect(discover(rival, workloads, select)).toEqual({
    discovered: { Deployment: 1 },
    owned: new Set(),
    tie: tie(own),
  });
});
