import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { effectiveRequests, extraRequests } from './project-requests.ts';

type Spec = NonNullable<Pod['spec']>;
type Status = NonNullable<Pod['status']>;
const MI = 1024 * 1024;

/** A container asking for `cpu` millicores and `memory` MiB. */
const container = (name: string, cpu: number, memory: number, extra: object = {}) => ({
  name,
  resources: { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } },
  ...extra,
});
const sidecar = (name: string, cpu: number, memory: number) =>
  container(name, cpu, memory, { restartPolicy: 'Always' });
const spec = (fields: object): Spec => ({ containers: [], ...fields });

describe('effectiveRequests', () => {
  test.each<[string, object, number, number]>([
    ['no containers', {}, 0, 0],
    ['containers add up', { containers: [container('a', 100, 64), container('b', 50, 32)] }, 150, 96],
    [
      'a small init step hides behind the containers',
      { containers: [container('a', 100, 64)], initContainers: [container('i', 50, 32)] },
      100,
      64,
    ],
    [
      'the largest init step wins, resource by resource',
      { containers: [container('a', 100, 64)], initContainers: [container('i', 500, 8), container('j', 5, 128)] },
      500,
      128,
    ],
    [
      'sidecars run beside the containers',
      { containers: [container('a', 100, 64)], initContainers: [sidecar('s', 20, 16)] },
      120,
      80,
    ],
    [
      'an init step runs beside the sidecars before it',
      { containers: [container('a', 10, 8)], initContainers: [sidecar('s', 20, 16), container('i', 500, 8)] },
      520,
      24,
    ],
    [
      'an init step does not run beside the sidecars after it',
      { containers: [container('a', 10, 8)], initContainers: [container('i', 500, 8), sidecar('s', 20, 16)] },
      500,
      24,
    ],
    [
      'overhead comes on top',
      { containers: [container('a', 100, 64)], overhead: { cpu: '10m', memory: '6Mi' } },
      110,
      70,
    ],
    [
      'pod-level requests replace the sum',
      { containers: [container('a', 100, 64)], resources: { requests: { cpu: '1' } } },
      1000,
      64,
    ],
    [
      'pod-level requests take overhead too',
      { containers: [], resources: { requests: { cpu: '1' } }, overhead: { cpu: '10m' } },
      1010,
      0,
    ],
    [
      'a limit alone is a request',
      { containers: [{ name: 'a', resources: { limits: { cpu: '2', memory: '1Gi' } } }] },
      2000,
      1024,
    ],
    [
      'a request beside a limit stands',
      { containers: [{ name: 'a', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }] },
      1000,
      0,
    ],
    ['numbers are quantities too', { containers: [{ name: 'a', resources: { requests: { cpu: 2 } } }] }, 2000, 0],
  ])('%s', (_, fields, cpuMillis, memoryMi) => {
    expect(effectiveRequests(spec(fields))).toEqual({ cpuMillis, memoryBytes: memoryMi * MI });
  });

  const resized = (wished: number, allocated: number, conditions: object[] = []): [Spec, Status] => [
    spec({ containers: [container('a', wished, 64)] }),
    {
      containerStatuses: [{ name: 'a', allocatedResources: { cpu: `${allocated}m`, memory: '64Mi' } }],
      conditions,
    } as unknown as Status,
  ];

  test.each([
    ['growing: the wished size counts', 300, 100, 300],
    ['shrinking: the allocated size counts until it is given back', 100, 300, 300],
  ])('%s', (_, wished, allocated, expected) => {
    expect(effectiveRequests(...resized(wished, allocated)).cpuMillis).toBe(expected);
  });

  test('an infeasible resize leaves the pod at its actual size', () => {
    const infeasible = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
    expect(effectiveRequests(...resized(9000, 100, infeasible)).cpuMillis).toBe(100);
  });

  test('an unreadable amount names the container and the field', () => {
    const broken = spec({ containers: [{ name: 'web', resources: { requests: { cpu: 'lots' } } }] });
    expect(() => effectiveRequests(broken)).toThrow(/container web resources\.requests\.cpu: "lots" is not valid/);
  });
});

describe('extraRequests', () => {
  const GPU = 'nvidia.com/gpu';
  const wanting = (name: string, requests: object, extra: object = {}) => ({
    name,
    resources: { requests: { cpu: '1', memory: '1Gi', ...requests } },
    ...extra,
  });
  const always = { restartPolicy: 'Always' };

  test.each<[string, object, object | undefined]>([
    ['only CPU and memory', { containers: [wanting('a', {})] }, undefined],
    ['none of a device', { containers: [wanting('a', { [GPU]: '0' })] }, undefined],
    ['containers add up', { containers: [wanting('a', { [GPU]: '1' }), wanting('b', { [GPU]: 2 })] }, { [GPU]: 3 }],
    [
      'a limit alone is the request, too',
      { containers: [{ name: 'a', resources: { limits: { [GPU]: '1' } } }] },
      { [GPU]: 1 },
    ],
    [
      'an init step runs beside the sidecars before it',
      {
        containers: [wanting('a', { [GPU]: '1' })],
        initContainers: [wanting('s', { [GPU]: '1' }, always), wanting('i', { [GPU]: '4' })],
      },
      { [GPU]: 5 },
    ],
    [
      'sidecars run beside the containers, other init steps before them',
      {
        containers: [wanting('a', { [GPU]: '3' })],
        initContainers: [wanting('i', { [GPU]: '2' }), wanting('s', { [GPU]: '1' }, always)],
      },
      { [GPU]: 4 },
    ],
    [
      'each by its name',
      { containers: [wanting('a', { 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi' })] },
      { 'ephemeral-storage': 1024 * MI, 'hugepages-2Mi': 4 * MI },
    ],
  ])('%s', (_, fields, expected) => {
    expect(extraRequests(spec(fields))).toEqual(expected);
  });

  test('an unreadable amount names the container and the resource', () => {
    const broken = spec({ containers: [wanting('web', { [GPU]: 'lots' })] });
    expect(() => extraRequests(broken)).toThrow(/container web resources\.nvidia\.com\/gpu: "lots" is not valid/);
  });
});
