import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import {
  availableAt,
  isActive,
  isAvailable,
  isFinished,
  isSameSpec,
  isTerminating,
  maxRestarts,
  readySince,
} from './pod-state.ts';

const SINCE = Date.UTC(2026, 5, 1);
const ready: Pod = {
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-06-01T00:00:00Z' }],
  },
};
const unready: Pod = {
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-06-01T00:00:00Z' }],
  },
};

test.each([
  ['Pending', true],
  ['Running', true],
  ['Succeeded', false],
  ['Failed', false],
])('a pod in phase %s is active: %s', (phase, expected) => {
  expect(isActive({ status: { phase } })).toBe(expected);
  expect(isFinished({ status: { phase } })).toBe(!expected);
});

test('a terminating pod is not active', () => {
  const pod: Pod = { metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' }, status: { phase: 'Running' } };
  expect([isTerminating(pod), isActive(pod)]).toEqual([true, false]);
});

describe('availability', () => {
  test('begins minReadySeconds after readiness', () => {
    expect(readySince(ready)).toBe(SINCE);
    expect(availableAt(ready, 30)).toBe(SINCE + 30_000);
    expect(isAvailable(ready, 30, SINCE + 29_999)).toBe(false);
    expect(isAvailable(ready, 30, SINCE + 30_000)).toBe(true);
  });
  test('without minReadySeconds is readiness', () => {
    expect(isAvailable({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 0, 0)).toBe(true);
    expect(isAvailable(unready, 0, SINCE)).toBe(false);
    expect(availableAt(unready, 0)).toBeUndefined();
  });
});

test('the highest restart count of the containers counts', () => {
  const status = (restartCount: number) => ({ name: 'a', image: '', imageID: '', ready: true, restartCount });
  expect(maxRestarts({ status: { containerStatuses: [status(1), status(4), status(2)] } })).toBe(4);
  expect(maxRestarts({})).toBe(0);
});

describe('isSameSpec', () => {
  const pod = (generation: number | undefined, image: string, nodeName?: string): Pod => ({
    metadata: generation === undefined ? {} : { generation },
    spec: { containers: [{ name: 'a', image }], ...(nodeName === undefined ? {} : { nodeName }) },
  });
  test.each<[string, Pod, Pod, boolean]>([
    ['equal generations', pod(1, 'a'), pod(1, 'a'), true],
    ['another generation', pod(1, 'a'), pod(2, 'b'), false],
    ['binding, which keeps the generation', pod(1, 'a'), pod(1, 'a', 'n1'), false],
    ['no generation, equal specs', pod(undefined, 'a'), pod(undefined, 'a'), true],
    ['no generation, other specs', pod(undefined, 'a'), pod(undefined, 'b'), false],
  ])('%s', (_, before, after, expected) => {
    expect(isSameSpec(before, after)).toBe(expected);
  });
});
