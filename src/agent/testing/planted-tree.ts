/** A tree of control groups that goes away with its test. */
import { onTestFinished } from 'vitest';
import { createFakeTree, type FakePod, type FakeTree, fakeContainerId, fakeUid, type TreeLayout } from './fake-tree.ts';

export function plant(layout: Partial<TreeLayout> = {}): FakeTree {
  const tree = createFakeTree({ version: 2, driver: 'systemd', runtime: 'containerd', ...layout });
  onTestFinished(() => tree.close());
  return tree;
}

export const podOf = (index: number, more: Partial<FakePod> = {}): FakePod => ({
  uid: fakeUid(index),
  qos: 'burstable',
  containers: { main: fakeContainerId(index) },
  ...more,
});
