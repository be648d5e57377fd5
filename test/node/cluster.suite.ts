import { expect, inject, test } from 'vitest';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { connect } from './runtime/real-cluster.ts';

test('both nodes are ready', async () => {
  const api = await connect(inject('realNodes').kubeconfigPath, createSystemClock());
  const { items } = await api.list(resources.nodes);
  expect(items.map(({ metadata }) => metadata?.name).sort()).toEqual(['on-demand-1', 'spot-1']);
  api.close();
});
