import { expect, test } from 'vitest';
import { isTakenBack, isUnderWay, underWayText } from './resize-state.ts';

const pod = (generation: number, observedGeneration: number, reason?: string, type = 'PodResizeInProgress') => ({
  metadata: { generation },
  status: {
    ...{ observedGeneration },
    conditions: reason === undefined ? [] : [{ type, status: 'True', reason }],
  },
});

test('a resize is under way until the kubelet has seen and done it', () => {
  expect(isUnderWay(pod(2, 1))).toBe(true);
  expect(isUnderWay(pod(2, 2, ''))).toBe(true);
  expect(isUnderWay(pod(2, 2))).toBe(false);
  expect(isUnderWay({ metadata: { generation: 2 } })).toBe(false);
});

test('what failed or waits may be taken back', () => {
  expect(isUnderWay(pod(2, 2, 'Error'))).toBe(false);
  expect(isUnderWay(pod(2, 2, 'Deferred', 'PodResizePending'))).toBe(false);
});

test('it is told', () => {
  expect(underWayText(pod(2, 1, 'Error'))).toBe('of generation 2 1 is seen, PodResizeInProgress Error');
});

test.each([
  ['1', '1000m', true],
  ['1', '900m', false],
  ['1', undefined, false],
])('what asks for %s of cpu and is allocated %s is taken back: %s', (cpu, allocated, expected) => {
  const allocatedResources = allocated === undefined ? {} : { cpu: allocated };
  const container = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, allocatedResources };
  const pod = {
    spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }] },
    status: { containerStatuses: [container] },
  };
  expect(isTakenBack(pod)).toBe(expected);
});
