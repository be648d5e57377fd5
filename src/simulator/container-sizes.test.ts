import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { type Container, chargeOf, qosOf, sizeOf, sizeSteps } from './container-sizes.ts';

function container(resources: Container['resources'], name = 'app'): Container {
  return { name, image: 'app:1', ...(resources !== undefined && { resources }) };
}

describe('what changed', () => {
  test('is told by container and amount, in the units of the comparison', () => {
    const before = [container({ requests: { cpu: '100m', memory: '64Mi' } }), container({}, 'proxy')];
    const after = [
      container({ requests: { cpu: '0.2', memory: '65536Ki' }, limits: { memory: '1Gi' } }),
      container({}, 'proxy'),
    ];
    expect(sizeSteps(before, after).map(({ key, from, to }) => [key, from, to])).toEqual([
      ['cpu request', 100, 200],
      ['memory limit', undefined, 1024 ** 3],
    ]);
  });

  test('is nothing for a container that was not there', () => {
    expect(sizeSteps([], [container({ requests: { cpu: '1' } })])).toEqual([]);
  });

  test('an amount that is taken away becomes none', () => {
    const steps = sizeSteps([container({ limits: { cpu: '1' } })], [container({})]);
    expect(steps.map(({ key, from, to }) => [key, from, to])).toEqual([['cpu limit', 1000, undefined]]);
  });
});

describe('the QoS class', () => {
  const full = { cpu: '1', memory: '1Gi' };
  test.each<[string, Container['resources'][], string]>([
    ['nothing said', [{}], 'BestEffort'],
    ['zeroes', [{ requests: { cpu: '0' } }], 'BestEffort'],
    ['requests alone', [{ requests: full }], 'Burstable'],
    ['limits alone', [{ limits: full }], 'Guaranteed'],
    ['limits as requests', [{ requests: full, limits: full }], 'Guaranteed'],
    ['a limit above its request', [{ requests: { ...full, cpu: '500m' }, limits: full }], 'Burstable'],
    ['one of two without', [{ requests: full, limits: full }, {}], 'Burstable'],
  ])('%s', (_, all, expected) => {
    expect(qosOf(all.map((resources, index) => container(resources, `c${index}`)))).toBe(expected);
  });
});

test('a size has only what is said', () => {
  expect([...sizeOf(container({ requests: { memory: '1Ki' } }))]).toEqual([['memory request', 1024]]);
});

test('a pod counts with the largest of what it asks for, is allocated and has', () => {
  const of = (asked: string, allocated: string, actual: string): number => {
    const pod: Pod = {
      spec: { containers: [container({ requests: { cpu: asked } })] },
      status: {
        containerStatuses: [
          {
            name: 'app',
            image: '',
            imageID: '',
            ready: true,
            restartCount: 0,
            allocatedResources: { cpu: allocated },
            resources: { requests: { cpu: actual } },
          },
        ],
      },
    };
    return chargeOf(pod, 'cpu');
  };
  expect([of('300m', '100m', '200m'), of('100m', '300m', '200m'), of('100m', '200m', '300m')]).toEqual([300, 300, 300]);
  expect(chargeOf({ spec: { containers: [container({})] } }, 'memory')).toBe(0);
});
