import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { add, amountsOf, effectiveRequests, isSameAmounts } from './pod-requests.ts';

const MIB = 1024 ** 2;
const container = (name: string, cpu: string, more: object = {}) => ({
  name,
  resources: { requests: { cpu } },
  ...more,
});
const cpuOf = (pod: Pod): number | undefined => effectiveRequests(pod).get('cpu');

describe('amountsOf', () => {
  test('reads cpu in millicores and the rest in whole units', () => {
    const amounts = amountsOf({ cpu: '1500m', memory: '64Mi', 'nvidia.com/gpu': '2', 'ephemeral-storage': '1k' });
    expect([...amounts]).toEqual([
      ['cpu', 1500],
      ['memory', 64 * MIB],
      ['nvidia.com/gpu', 2],
      ['ephemeral-storage', 1000],
    ]);
  });
  test('leaves out what it cannot read', () => {
    expect(amountsOf({ cpu: 'lots' }).size).toBe(0);
    expect(amountsOf(undefined).size).toBe(0);
  });
});

describe('effectiveRequests', () => {
  test.each<[string, Pod['spec'], number]>([
    ['the sum of the containers', { containers: [container('a', '100m'), container('b', '200m')] }, 300],
    ['a larger init container', { containers: [container('a', '100m')], initContainers: [container('i', '1')] }, 1000],
    ['a smaller init container', { containers: [container('a', '1')], initContainers: [container('i', '100m')] }, 1000],
    [
      'sidecars beside the containers',
      { containers: [container('a', '100m')], initContainers: [container('s', '50m', { restartPolicy: 'Always' })] },
      150,
    ],
    [
      'an init container after a sidecar',
      {
        containers: [container('a', '100m')],
        initContainers: [container('s', '50m', { restartPolicy: 'Always' }), container('i', '300m')],
      },
      350,
    ],
    ['overhead', { containers: [container('a', '100m')], overhead: { cpu: '25m' } }, 125],
    [
      'limits where there are no requests',
      { containers: [{ name: 'a', resources: { limits: { cpu: '400m' } } }] },
      400,
    ],
  ])('counts %s', (_, spec, expected) => {
    expect(cpuOf(spec === undefined ? {} : { spec })).toBe(expected);
  });

  test('counts the larger of what a resized container asks and holds', () => {
    const status = (cpu: string) => ({
      containerStatuses: [
        { name: 'a', image: '', imageID: '', ready: true, restartCount: 0, allocatedResources: { cpu } },
      ],
    });
    expect(cpuOf({ spec: { containers: [container('a', '100m')] }, status: status('300m') })).toBe(300);
    expect(cpuOf({ spec: { containers: [container('a', '500m')] }, status: status('300m') })).toBe(500);
  });

  test('counts sum against sum: what one container gives and another one gets is not needed twice', () => {
    const status = (name: string, cpu: string) => ({
      name,
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      resources: { requests: { cpu } },
      allocatedResources: { cpu },
    });
    const spec = { containers: [container('a', '300m'), container('b', '100m')] };
    expect(cpuOf({ spec, status: { containerStatuses: [status('a', '100m'), status('b', '300m')] } })).toBe(400);
    const sidecar = {
      containers: [container('a', '100m')],
      initContainers: [container('s', '50m', { restartPolicy: 'Always' })],
    };
    expect(cpuOf({ spec: sidecar, status: { initContainerStatuses: [status('s', '250m')] } })).toBe(350);
  });

  test('counts what a pod holds where it can never get what it asks for', () => {
    const held = {
      name: 'a',
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      allocatedResources: { cpu: '100m' },
    };
    const condition = { type: 'PodResizePending', status: 'True', reason: 'Infeasible' };
    const spec = { containers: [container('a', '64')] };
    expect(cpuOf({ spec, status: { containerStatuses: [held], conditions: [condition] } })).toBe(100);
    expect(
      cpuOf({ spec, status: { containerStatuses: [held], conditions: [{ ...condition, reason: 'Deferred' }] } }),
    ).toBe(64_000);
  });

  test('counts what the pod as a whole asks for instead of its containers', () => {
    const resources = { requests: { cpu: '1', 'example.com/gpu': '3' } };
    const spec = { containers: [container('a', '100m')], resources, overhead: { cpu: '5m' } };
    const requests = effectiveRequests({ spec });
    expect([...requests]).toEqual([['cpu', 1005]]);
  });

  test('is nothing for a pod without a spec', () => {
    expect(effectiveRequests({}).size).toBe(0);
  });
});

test('add keeps both sides as they were', () => {
  const left = new Map([['cpu', 1]]);
  const right = new Map([
    ['cpu', 2],
    ['memory', 3],
  ]);
  expect([...add(left, right)]).toEqual([
    ['cpu', 3],
    ['memory', 3],
  ]);
  expect(left.get('cpu')).toBe(1);
});

test.each([
  [{ cpu: '500m' }, { cpu: '0.5' }, true],
  [{ cpu: '500m' }, { cpu: '501m' }, false],
  [{ cpu: '0' }, {}, true],
  [{ memory: '1Gi' }, { memory: '1024Mi', cpu: '1' }, false],
])('amounts %o and %o are the same: %s', (left, right, expected) => {
  expect(isSameAmounts(amountsOf(left), amountsOf(right))).toBe(expected);
});
