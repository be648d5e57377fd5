import { expect, test } from 'vitest';
import type { PodRecord } from '../model/records.ts';
import { aDeployment, aPod, aReplicaSet, aTemplate } from '../model/testing/records.ts';
import { createPredecessorIndex } from './predecessor-index.ts';

const podOf = (label: string, name: string, changes: Partial<PodRecord> = {}): PodRecord => {
  const template = aTemplate({ labels: { 'app.kubernetes.io/name': label } });
  return aPod(aReplicaSet(aDeployment()), name, { namespace: `${label}-system`, template, ...changes });
};

test('follows pods as they begin and end', () => {
  const index = createPredecessorIndex();
  expect(index.running()).toEqual([]);
  const pending = podOf('optipod', 'a', { phase: 'Pending' });
  const running = podOf('optipod', 'a');
  index.apply(undefined, pending);
  expect(index.running()).toEqual([]);
  index.apply(pending, running);
  index.apply(undefined, podOf('mbcas', 'b'));
  index.apply(undefined, podOf('web', 'c'));
  const both = index.running();
  expect(both).toEqual([
    { system: 'OptiPod', pod: 'optipod-system/a' },
    { system: 'MBCAS', pod: 'mbcas-system/b' },
  ]);
  index.apply(running, { ...running, ready: false });
  expect(index.running()).toBe(both);
  index.apply(running, undefined);
  expect(index.running()).toEqual([{ system: 'MBCAS', pod: 'mbcas-system/b' }]);
  index.apply(podOf('mbcas', 'b'), podOf('mbcas', 'b', { phase: 'Failed' }));
  expect(index.running()).toEqual([]);
});

test('looks for them in the namespace of the operator, too', () => {
  const index = createPredecessorIndex('platform');
  index.apply(undefined, podOf('spotalis', 'a', { namespace: 'shop' }));
  expect(index.running()).toEqual([]);
  index.apply(undefined, podOf('spotalis', 'a', { namespace: 'platform' }));
  expect(index.running()).toEqual([{ system: 'Spotalis', pod: 'platform/a' }]);
});
