import { describe, expect, test } from 'vitest';
import type { OwnerReference, PodRecord } from './records.ts';
import { podsOfSized, type SizingLinks, workloadOfPod } from './sizing-owners.ts';
import { aPod } from './testing/records.ts';
import { aSizedWorkload } from './testing/sizing-records.ts';

const named = (kind: string, name: string) => aSizedWorkload({ kind, name, uid: `uid-${name}` });
const workloads = [
  named('Deployment', 'web'),
  named('ReplicaSet', 'alone'),
  named('StatefulSet', 'db'),
  named('DaemonSet', 'agent'),
  named('Job', 'import'),
  named('CronJob', 'nightly'),
  named('Rollout', 'canary'),
];
const ownerRef = (kind: string, name: string): OwnerReference => ({
  apiVersion: 'x/v1',
  kind,
  name,
  uid: `uid-${name}`,
});
const replicaSet = (name: string, owner: OwnerReference | undefined) => ({
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  owner,
  revision: '',
  replicas: 1,
  createdAt: 0,
});
const replicaSets = [
  replicaSet('web-1', ownerRef('Deployment', 'web')),
  replicaSet('web-2', ownerRef('Deployment', 'web')),
  replicaSet('canary-1', ownerRef('Rollout', 'canary')),
  replicaSet('alone', undefined),
];
const podOf = (kind: string, name: string): PodRecord => ({
  ...aPod({ namespace: 'shop', name, uid: `uid-${name}` }, `${name}-x`),
  owner: ownerRef(kind, name),
});
const pods = [
  podOf('ReplicaSet', 'web-1'),
  podOf('ReplicaSet', 'web-2'),
  podOf('ReplicaSet', 'canary-1'),
  podOf('ReplicaSet', 'alone'),
  podOf('StatefulSet', 'db'),
  podOf('DaemonSet', 'agent'),
  podOf('Job', 'import'),
  podOf('Job', 'nightly-1'),
];

const links: SizingLinks = {
  workloadByUid: (uid) => workloads.find((workload) => workload.uid === uid),
  replicaSet: (uid) => replicaSets.find((each) => each.uid === uid),
  jobOwner: (uid) => (uid === 'uid-nightly-1' ? ownerRef('CronJob', 'nightly') : undefined),
  replicaSetsOf: (uid) => replicaSets.filter(({ owner }) => owner?.uid === uid),
  jobsOf: (uid) => (uid === 'uid-nightly' ? ['uid-nightly-1', 'uid-nightly-0'] : []),
  podsOwnedBy: (uid) => pods.filter(({ owner }) => owner?.uid === uid),
};

describe('both ways say the same', () => {
  test.each([
    ['Deployment', 'web', ['web-1-x', 'web-2-x']],
    ['Rollout', 'canary', ['canary-1-x']],
    ['ReplicaSet', 'alone', ['alone-x']],
    ['StatefulSet', 'db', ['db-x']],
    ['DaemonSet', 'agent', ['agent-x']],
    ['Job', 'import', ['import-x']],
    ['CronJob', 'nightly', ['nightly-1-x']],
  ])('%s', (kind, name, expected) => {
    const workload = named(kind, name);
    expect(podsOfSized(links, workload).map((pod) => pod.name)).toEqual(expected);
    for (const pod of podsOfSized(links, workload)) expect(workloadOfPod(links, pod)?.name).toBe(name);
  });
});

test('a bare pod, and one of an owner nobody knows, belong to nobody', () => {
  expect(workloadOfPod(links, { ...podOf('Job', 'x'), owner: undefined })).toBeUndefined();
  expect(workloadOfPod(links, podOf('GameServer', 'x'))).toBeUndefined();
});

describe('owner references to another namespace are forged', () => {
  const elsewhere = 'tenant';
  test.each(pods.map((pod) => [pod.name, { ...pod, namespace: elsewhere }] as const))('%s is nobody’s', (_, pod) => {
    expect(workloadOfPod(links, pod)).toBeUndefined();
  });

  test('such pods and ReplicaSets count for no workload', () => {
    const forged: SizingLinks = {
      ...links,
      replicaSetsOf: (uid) => links.replicaSetsOf(uid).map((each) => ({ ...each, namespace: elsewhere })),
      podsOwnedBy: (uid) => links.podsOwnedBy(uid).map((each) => ({ ...each, namespace: elsewhere })),
    };
    for (const workload of workloads) expect(podsOfSized(forged, workload)).toEqual([]);
    const setsOnly = { ...forged, podsOwnedBy: links.podsOwnedBy };
    expect(podsOfSized(setsOnly, named('Deployment', 'web'))).toEqual([]);
  });
});
