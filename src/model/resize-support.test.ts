import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { declaresExclusiveCpuResize, resizeSupport } from './resize-support.ts';
import { aNode } from './testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, smallSize } from './testing/sizing-records.ts';

const owner = { namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' };
const podWith = (...actual: (typeof smallSize | undefined)[]) => {
  const containers = actual.map((_, index) => aContainer({ name: `c${index}` }));
  const statuses = containers.map((container, index) => aContainerStatus(container, { actual: actual[index] }));
  const pod = aSizedPod(owner, 'web-1', { containers, statuses });
  return { pod, sizing: pod.sizing };
};
const node = aNode('n1', undefined, { labels: { 'kubernetes.io/os': 'linux' } });

describe('what is observed', () => {
  test.each([
    ['all is there', podWith(smallSize), node, true, 'supported'],
    ['not served', podWith(smallSize), node, false, 'unsupported'],
    ['not known whether it is served', podWith(smallSize), node, undefined, 'unknown'],
    ['node not known', podWith(smallSize), undefined, true, 'unknown'],
    ['a node without the label', podWith(smallSize), aNode('n1', undefined), true, 'supported'],
    [
      'Windows',
      podWith(smallSize),
      aNode('n1', undefined, { labels: { 'kubernetes.io/os': 'windows' } }),
      true,
      'unsupported',
    ],
    ['one container without resources in its status', podWith(smallSize, undefined), node, true, 'unsupported'],
    ['nothing runs', podWith(), node, true, 'unknown'],
  ])('%s', (_, pod, on, serves, kind) => {
    expect(resizeSupport(pod, on, serves).kind).toBe(kind);
  });

  test('a container that does not run says nothing either way', () => {
    const { pod } = podWith(smallSize, undefined);
    const statuses = pod.sizing.statuses.map((status, index) => ({ ...status, running: index === 0 }));
    expect(resizeSupport({ pod, sizing: { ...pod.sizing, statuses } }, node, true).kind).toBe('supported');
  });

  test('the reason names the node or the container', () => {
    const support = resizeSupport(podWith(smallSize, undefined), node, true);
    expect(support.kind !== 'supported' && support.detail).toContain(
      'node n1 does not report the resources of container c1',
    );
  });
});

// Feature: k8s-workload-rightsizing, Property 20: For any Kubernetes cluster version 1.29 or higher, the system should correctly
// detect whether the InPlacePodVerticalScaling feature gate is enabled.
test('Property 20: for any version and gate, support is what API server and kubelet show, whatever the version says', () => {
  fc.assert(
    fc.property(fc.integer({ min: 29, max: 40 }), fc.boolean(), fc.boolean(), (minor, serverGate, kubeletGate) => {
      // Subresource and status appear with the gates; from 1.35 on both are always there.
      const serves = minor >= 35 || (serverGate && minor >= 32);
      const reports = minor >= 35 || kubeletGate;
      const versioned = aNode('n1', undefined, { labels: { 'node.kubernetes.io/version': `v1.${minor}.0` } });
      const pod = podWith(reports ? smallSize : undefined);
      expect(resizeSupport(pod, versioned, serves).kind === 'supported').toBe(serves && reports);
    }),
    { numRuns: 200 },
  );
});

test('features are believed where they are declared, and nothing follows where they are not', () => {
  expect(declaresExclusiveCpuResize({ ...node, declaredFeatures: ['GuaranteedQoSPodCPUResize'] })).toBe(true);
  expect(declaresExclusiveCpuResize({ ...node, declaredFeatures: ['Other'] })).toBe(false);
  expect(declaresExclusiveCpuResize(node)).toBe(false);
  expect(declaresExclusiveCpuResize(undefined)).toBe(false);
});
