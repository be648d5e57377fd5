import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { createNodeClassifier, isCapacity, leavingCause, oppositeOf } from './node-class.ts';
import { nodeClassProfile } from './node-profiles.ts';
import type { NodeClassSettings } from './placement-settings.ts';
import type { Labels, NodeClass, Taint } from './records.ts';
import { aNode } from './testing/records.ts';

const noSchedule = (key: string): Taint => ({ key, value: '', effect: 'NoSchedule' });
const classOf = (settings: NodeClassSettings, labels: Labels, taints: readonly Taint[] = []): NodeClass =>
  createNodeClassifier(settings)(aNode('n', undefined, { labels, taints }));

describe('createNodeClassifier', () => {
  test.each<[Parameters<typeof nodeClassProfile>[0], Labels, NodeClass]>([
    [['karpenter'], { 'karpenter.sh/capacity-type': 'spot' }, 'spot'],
    [['karpenter'], { 'karpenter.sh/capacity-type': 'on-demand' }, 'on-demand'],
    [['karpenter'], { 'karpenter.sh/capacity-type': 'reserved' }, 'on-demand'],
    [['karpenter'], { 'karpenter.sh/capacity-type': 'Spot' }, 'unknown'],
    [['karpenter'], {}, 'unknown'],
    [['eks'], { 'eks.amazonaws.com/capacityType': 'SPOT' }, 'spot'],
    [['eks'], { 'eks.amazonaws.com/capacityType': 'ON_DEMAND' }, 'on-demand'],
    [['eks'], { 'eks.amazonaws.com/capacityType': 'CAPACITY_BLOCK' }, 'on-demand'],
    [['eks'], { 'karpenter.sh/capacity-type': 'spot' }, 'unknown'],
    [['gke'], { 'cloud.google.com/gke-spot': 'true' }, 'spot'],
    [['gke'], { 'cloud.google.com/gke-provisioning': 'spot' }, 'spot'],
    [['gke'], { 'cloud.google.com/gke-preemptible': 'true' }, 'spot'],
    [['gke'], { 'cloud.google.com/gke-provisioning': 'standard' }, 'on-demand'],
    [['gke'], { 'cloud.google.com/gke-nodepool': 'default' }, 'on-demand'],
    [['aks'], { 'kubernetes.azure.com/scalesetpriority': 'spot' }, 'spot'],
    [['aks'], { 'kubernetes.azure.com/scalesetpriority': 'regular' }, 'on-demand'],
    [['aks'], {}, 'on-demand'],
    [['castai'], { 'scheduling.cast.ai/spot': 'true' }, 'spot'],
    [['castai'], {}, 'on-demand'],
    [['karpenter', 'eks'], { 'eks.amazonaws.com/capacityType': 'SPOT' }, 'spot'],
    [['karpenter', 'eks'], { 'karpenter.sh/capacity-type': 'on-demand' }, 'on-demand'],
    [['karpenter', 'eks'], {}, 'unknown'],
  ])('case 73: profiles %j take labels %j for %s', (names, labels, expected) => {
    expect(classOf(nodeClassProfile(names), labels)).toBe(expected);
  });

  test('case 73: a node without labels is unknown where on-demand is labelled', () => {
    expect(classOf(nodeClassProfile(['karpenter', 'eks']), { 'node.kubernetes.io/instance-type': 'spot-ish' })).toBe(
      'unknown',
    );
  });

  test('case 74: selectors are ORed, the conditions of one are ANDed, and spot is asked first', () => {
    const settings = nodeClassProfile([], {
      spot: [
        { matchLabels: { pool: 'cheap', arch: 'arm64' } },
        { matchExpressions: [{ key: 'lifecycle', operator: 'In', values: ['spot', 'preemptible'] }] },
      ],
      onDemand: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
    });
    expect(classOf(settings, { pool: 'cheap', arch: 'arm64' })).toBe('spot');
    expect(classOf(settings, { pool: 'cheap', arch: 'amd64' })).toBe('on-demand');
    expect(classOf(settings, { lifecycle: 'preemptible' })).toBe('spot');
    expect(classOf(settings, { pool: 'x', lifecycle: 'spot' })).toBe('spot');
    expect(classOf(settings, { arch: 'arm64' })).toBe('unknown');
  });

  test.each(['node.cloudprovider.kubernetes.io/uninitialized', 'karpenter.sh/unregistered'])(
    'a node still tainted %s is not on-demand by the absence of a label',
    (key) => {
      expect(classOf(nodeClassProfile(['gke']), {}, [noSchedule(key)])).toBe('unknown');
      expect(classOf(nodeClassProfile(['gke']), { 'cloud.google.com/gke-spot': 'true' }, [noSchedule(key)])).toBe(
        'spot',
      );
    },
  );

  test.each([{}, { matchLabels: {} }, { matchExpressions: [] }])(
    'refuses the selector %j, which matches every node',
    (empty) => {
      const settings = { ...nodeClassProfile(['karpenter']), spot: [empty] };
      expect(() => createNodeClassifier(settings)).toThrow(/spotLabels\[0\].*at least one label or expression/);
      expect(() => createNodeClassifier({ ...settings, spot: [], onDemand: [empty] })).toThrow(InvalidValueError);
    },
  );

  test('refuses an invalid selector', () => {
    const settings = {
      ...nodeClassProfile(['karpenter']),
      onDemand: [{ matchExpressions: [{ key: 'a', operator: 'Near' }] }],
    };
    expect(() => createNodeClassifier(settings)).toThrow(/operator "Near"/);
  });

  test('hazard H26: a relabelled node, a new record, is classified anew', () => {
    const classify = createNodeClassifier(nodeClassProfile(['karpenter']));
    const before = aNode('n', undefined);
    expect(classify(before)).toBe('unknown');
    expect(classify({ ...before, labels: { 'karpenter.sh/capacity-type': 'spot' } })).toBe('spot');
    expect(classify(before)).toBe('unknown');
  });
});

describe('isCapacity', () => {
  const settings = nodeClassProfile(['karpenter', 'eks', 'gke']);

  test('a ready node is capacity', () => {
    expect(isCapacity(aNode('n', 'spot'), settings)).toBe(true);
  });

  test.each([
    ['not ready', { ready: false }],
    ['cordoned', { unschedulable: true }],
    ['being deleted', { deleting: true }],
    ['not set up', { taints: [noSchedule('karpenter.sh/unregistered')] }],
    ['disrupted by Karpenter', { taints: [noSchedule('karpenter.sh/disrupted')] }],
    ['about to be deleted by the cluster autoscaler', { taints: [noSchedule('ToBeDeletedByClusterAutoscaler')] }],
    ['interrupted by EC2', { taints: [noSchedule('aws-node-termination-handler/spot-itn')] }],
    ['terminated by GCE', { taints: [noSchedule('cloud.google.com/impending-node-termination')] }],
  ])('a node %s is not', (_, changes) => {
    expect(isCapacity(aNode('n', 'spot', changes), settings)).toBe(false);
  });

  test('an ordinary taint does not make a node leave', () => {
    expect(isCapacity(aNode('n', 'spot', { taints: [noSchedule('dedicated')] }), settings)).toBe(true);
  });
});

describe('leavingCause', () => {
  const settings = nodeClassProfile(['karpenter']);

  test('names the deletion or the taint', () => {
    expect(leavingCause(aNode('n', 'spot', { deleting: true }), settings)).toBe('it is being deleted');
    expect(leavingCause(aNode('n', 'spot', { taints: [noSchedule('karpenter.sh/disrupted')] }), settings)).toBe(
      'taint karpenter.sh/disrupted',
    );
  });

  test('a cordoned or unready node is no capacity but does not leave', () => {
    expect(leavingCause(aNode('n', 'spot', { unschedulable: true, ready: false }), settings)).toBeUndefined();
  });
});

test('oppositeOf exchanges the sides', () => {
  expect(oppositeOf('spot')).toBe('on-demand');
  expect(oppositeOf('on-demand')).toBe('spot');
});
