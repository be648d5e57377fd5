import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../api/core.ts';
import { isLighterOnNode, isOtherOffer, isOtherOnNode, isOtherToPlace, isToBePlaced } from './scheduling-news.ts';

type Spec = NonNullable<Pod['spec']>;
type Status = NonNullable<Pod['status']>;

const containers: Spec['containers'] = [{ name: 'app', resources: { requests: { cpu: '1' } } }];
const pod = (metadata: Pod['metadata'] = {}, status: Status = {}, spec: Partial<Spec> = {}): Pod => ({
  metadata: { name: 'a', generation: 1, labels: { app: 'web' }, ...metadata },
  spec: { containers, ...spec },
  status,
});
const held = (cpu: string): Status => ({
  containerStatuses: [
    { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, allocatedResources: { cpu } },
  ],
});
const pending: Status = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };

test.each<[string, Partial<Spec>, boolean]>([
  ['names no scheduler', {}, true],
  ['names this one', { schedulerName: 'mine' }, true],
  ['names another', { schedulerName: 'other' }, false],
  ['has a gate', { schedulingGates: [{ name: 'example.com/wait' }] }, false],
])('a pod that %s is to be placed: %s', (_name, spec, expected) => {
  expect(isToBePlaced(pod({}, {}, spec), 'mine')).toBe(expected);
});

describe('a change of a pod', () => {
  test.each<[string, Pod, boolean, boolean]>([
    ['nothing', pod(), false, false],
    ['what is reported of it', pod({}, { phase: 'Running', conditions: [] }), false, false],
    ['its annotations', pod({ annotations: { note: 'x' } }), false, false],
    ['its labels', pod({ labels: { app: 'api' } }), true, true],
    ['its spec', pod({ generation: 2 }, {}, { nodeSelector: { pool: 'spot' } }), true, true],
    ['that it leaves', pod({ deletionTimestamp: '2026-01-01T00:00:00Z' }), false, true],
    ['what it holds', pod({}, held('500m')), false, true],
    ['that it cannot be resized', pod({}, pending), false, true],
  ])('in %s', (_name, after, isToPlace, isOnNode) => {
    expect([isOtherToPlace(pod(), after), isOtherOnNode(pod(), after)]).toEqual([isToPlace, isOnNode]);
  });
});

test.each<[string, Pod, Pod, boolean]>([
  ['less than it held', pod({}, held('2')), pod(), true],
  ['as much', pod({}, held('1')), pod(), false],
  ['more', pod(), pod({}, held('2')), false],
])('a pod holds %s', (_name, before, after, expected) => {
  expect(isLighterOnNode(before, after)).toBe(expected);
});

describe('a change of a node', () => {
  const node = (more: Node = {}): Node => ({
    metadata: { name: 'n', labels: { zone: 'a' }, ...more.metadata },
    spec: { ...more.spec },
    status: { allocatable: { cpu: '4' }, ...more.status },
  });

  test.each<[string, Node, boolean]>([
    ['nothing', node(), false],
    ['a heartbeat', node({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }), false],
    ['its version', node({ metadata: { resourceVersion: '2' } }), false],
    ['its labels', node({ metadata: { labels: { zone: 'b' } } }), true],
    ['its taints', node({ spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }), true],
    ['that it is cordoned', node({ spec: { unschedulable: true } }), true],
    ['what it offers', node({ status: { allocatable: { cpu: '8' } } }), true],
    ['that it leaves', node({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), true],
  ])('in %s', (_name, after, expected) => {
    expect(isOtherOffer(node(), after)).toBe(expected);
  });
});
