/** Values that the chart refuses. */
import { expect, test } from 'vitest';
import { findHelm, renderChart } from './render.ts';

const { programs, missing } = await findHelm();

test.skipIf(missing !== undefined).each([
  ['a typo', ['replicaCout=3'], "additional properties 'replicaCout' not allowed"],
  ['a typo in a section', ['image.repo=x'], "at '/image': additional properties 'repo' not allowed"],
  ['a typo in the configuration', ['config.controllers.workers=3'], "additional properties 'workers' not allowed"],
  ['a wrong kind', ['webhook.port=https'], "at '/webhook/port': got string, want integer"],
  ['a wrong choice', ['rbac.scope=tenant'], "at '/rbac/scope': value must be one of 'cluster', 'namespace'"],
  ['a number out of range', ['replicaCount=0'], 'minimum: got 0, want 1'],
  [
    'a word that agents would not take, and act by their default',
    ['agent.config.allocation\\.apply=off'],
    "at '/agent/config/allocation.apply': value must be one of 'requests+ceilings', 'limits', 'observe'",
  ],
  ['what the chart knows itself', ['config.engines.placement=false'], "additional properties 'engines' not allowed"],
  ['namespaces without any', ['rbac.scope=namespace'], "at '/config': missing property 'controllers'"],
  [
    'namespaces without a configuration',
    ['rbac.scope=namespace', 'config=null'],
    'needs config.controllers.watchNamespaces',
  ],
  [
    'namespaces with certificates of the operator',
    ['rbac.scope=namespace', 'config.controllers.watchNamespaces={shop}'],
    'Set webhook.certManager.enabled or webhook.tls.existingSecret',
  ],
  [
    'the agent with Roles only',
    [
      'rbac.scope=namespace',
      'config.controllers.watchNamespaces={shop}',
      'webhook.certManager.enabled=true',
      'engines.allocation=true',
    ],
    'engines.allocation needs rbac.scope: cluster',
  ],
  [
    'one account for operator and agents, which are held to their nodes',
    ['engines.allocation=true', 'agent.serviceAccount.name=stowage'],
    'Give the agent an account of its own, or set agent.nodeBoundWrites: false',
  ],
  [
    'watched namespaces with a ClusterRole',
    ['config.controllers.watchNamespaces={shop}'],
    'goes with rbac.scope: namespace',
  ],
])('refuses %s with a clear message', (_what, set, message) => {
  const rendered = renderChart(programs, { set });
  expect(rendered.ok ? 'accepted' : rendered.message).toContain(message);
});
