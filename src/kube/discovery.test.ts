import { expect, test } from 'vitest';
import { discoveredResources } from './discovery.ts';

test('resources are read, each with its subresources', () => {
  const resources = [
    { name: 'rollouts', singularName: 'rollout', namespaced: true, kind: 'Rollout', verbs: ['get'] },
    { name: 'rollouts/status', singularName: '', namespaced: true, kind: 'Rollout', verbs: ['get'] },
    { name: 'clusters', namespaced: false, kind: 'Cluster', verbs: [] },
  ];
  expect(discoveredResources({ kind: 'APIResourceList', resources })).toEqual([
    { plural: 'rollouts', kind: 'Rollout', namespaced: true, subresources: ['status'] },
    { plural: 'clusters', kind: 'Cluster', namespaced: false, subresources: [] },
  ]);
});

test.each([[undefined], [null], ['text'], [{}], [{ resources: 'many' }], [{ resources: [1, {}, { name: 'a' }] }]])(
  'of %j nothing is read',
  (document) => expect(discoveredResources(document)).toEqual([]),
);
