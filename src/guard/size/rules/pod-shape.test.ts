import { describe, expect, test } from 'vitest';
import { aNode, NOON } from '../../../model/testing/records.ts';
import { aContainer, aContainerStatus } from '../../../model/testing/sizing-records.ts';
import { evictToResize, node, reasonsFor, resize, type SizeSceneChanges, withPod } from '../testing/size-scene.ts';

describe('the pod', () => {
  const noStatus = aContainerStatus(aContainer(), { actual: undefined });
  const bestEffort = aContainer({ size: {} });
  test.each<[string, SizeSceneChanges, readonly string[]]>([
    ['terminating', withPod({}, { deletingAt: NOON }), ['PodTerminating']],
    ['pending', withPod({}, { phase: 'Pending' }), ['PodNotRunning']],
    ['ended', withPod({}, { phase: 'Succeeded' }), ['PodNotRunning']],
    ['on a node that is not ready', { records: { nodes: [{ ...node, ready: false }] } }, ['NodeSilent']],
    ['static', withPod({ isStatic: true }), ['StaticPod']],
    ['Windows', withPod({ os: 'windows' }), ['WindowsPod']],
    ['with resources of the whole pod', withPod({ hasPodLevelResources: true }), ['PodLevelResources']],
    ['kubelet silent about resources', withPod({ statuses: [noStatus] }), ['ResizeUnsupported']],
    ['pods/resize not served', { servesResize: false }, ['ResizeUnsupported']],
    ['not known whether it is served', { servesResize: undefined }, ['ResizeUnsupported']],
    ['BestEffort', withPod({ qos: 'BestEffort', containers: [bestEffort] }), ['BestEffort', 'QosClassFixed']],
  ])('%s', (_, changes, expected) => {
    expect(reasonsFor(resize(), changes)).toEqual(expected);
  });

  test('with resources of the whole pod is not evicted either: its replacement would be as it is', () => {
    expect(reasonsFor(evictToResize, withPod({ hasPodLevelResources: true }))).toEqual(['PodLevelResources']);
  });

  test('what was not granted is taken back on any node', () => {
    const records = { nodes: [{ ...node, ready: false }] };
    expect(reasonsFor(resize({ isWithdrawal: true }), { records })).toEqual([]);
  });

  test('a Windows node is enough to tell', () => {
    const windows = aNode('n1', undefined, { labels: { 'kubernetes.io/os': 'windows' } });
    expect(reasonsFor(resize(), { records: { nodes: [windows] } })).toEqual(['WindowsPod', 'ResizeUnsupported']);
  });
});
