import { describe, expect, test } from 'vitest';
import { projectHpa, projectVpa } from './project-autoscalers.ts';
import { projectLimitRange, projectQuota } from './project-bounds.ts';
import { resizeManagers, templateManagers } from './resource-managers.ts';

const metadata = { name: 'x', namespace: 'shop' };
const MIB = 2 ** 20;

describe('LimitRange', () => {
  test('each item of containers and pods is a record; the others are left out', () => {
    const limits = [
      {
        type: 'Container',
        max: { cpu: '1' },
        default: { memory: '64Mi' },
        maxLimitRequestRatio: { cpu: '1500m', memory: '2' },
      },
      { type: 'Pod', min: { memory: '1Mi' } },
      { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
    ];
    expect(projectLimitRange({ metadata, spec: { limits } })).toEqual([
      {
        ...metadata,
        type: 'Container',
        min: {},
        max: { cpu: 1000 },
        defaultRequest: {},
        defaultLimit: { memory: 64 * MIB },
        maxLimitRequestRatio: { cpu: 1.5, memory: 2 },
      },
      {
        ...metadata,
        type: 'Pod',
        min: { memory: MIB },
        max: {},
        defaultRequest: {},
        defaultLimit: {},
        maxLimitRequestRatio: {},
      },
    ]);
  });

  test('an empty one bounds nothing, and a bad amount is named', () => {
    expect(projectLimitRange({ metadata })).toEqual([]);
    const bad = { metadata, spec: { limits: [{ type: 'Pod', max: { cpu: 'much' } }] } };
    expect(() => projectLimitRange(bad)).toThrow(/max\.cpu/);
  });
});

describe('ResourceQuota', () => {
  test('what the status says is in force; old names count, the stricter of two too', () => {
    const status = {
      hard: { cpu: '4', 'requests.cpu': '3', memory: '1Mi', 'limits.cpu': '8', pods: '10' },
      used: { 'requests.cpu': '500m', memory: '0' },
    };
    expect(projectQuota({ metadata, spec: { hard: { cpu: '9' } }, status })).toEqual({
      ...metadata,
      hard: { cpuRequest: 3000, memoryRequest: MIB, cpuLimit: 8000 },
      used: { cpuRequest: 500, memoryRequest: 0 },
      scopes: undefined,
    });
  });

  test('before the first status the spec counts, with its scopes as text', () => {
    const scopeSelector = {
      matchExpressions: [
        { scopeName: 'PriorityClass', operator: 'In', values: ['a', 'b'] },
        { scopeName: 'PriorityClass', operator: 'Exists' },
      ],
    };
    expect(
      projectQuota({ metadata, spec: { hard: { 'limits.memory': '2Mi' }, scopes: ['NotBestEffort'], scopeSelector } }),
    ).toMatchObject({
      hard: { memoryLimit: 2 * MIB },
      used: {},
      scopes: ['NotBestEffort', 'PriorityClass In a,b', 'PriorityClass Exists'],
    });
  });
});

describe('autoscalers', () => {
  test('an HPA, with what it measures by utilization', () => {
    const target = (averageUtilization: number) => ({ type: 'Utilization', averageUtilization });
    const hpa = projectHpa({
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 10,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: target(80) } },
          { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
          { type: 'ContainerResource', containerResource: { container: 'app', name: 'memory', target: target(70) } },
          { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } },
        ],
      },
      status: { currentReplicas: 3, desiredReplicas: 4, conditions: [], currentMetrics: [] },
    });
    expect(hpa).toEqual({
      ...metadata,
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      currentReplicas: 3,
      desiredReplicas: 4,
      utilization: { cpu: 80 },
      containerUtilization: [{ container: 'app', resource: 'memory', percent: 70 }],
    });
  });

  test.each([
    [undefined, 'Auto'],
    [{ updateMode: 'Off' }, 'Off'],
  ])('a VPA with %j is in mode %s', (updatePolicy, updateMode) => {
    const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const vpa = projectVpa({ metadata, spec: { targetRef, ...(updatePolicy && { updatePolicy }) } });
    expect(vpa).toEqual({ ...metadata, target: targetRef, updateMode });
  });
});

describe('field managers', () => {
  const resources = (container: string) => ({
    'f:containers': { [`k:{"name":"${container}"}`]: { 'f:resources': { 'f:limits': {} } } },
  });
  test('of a template, by container', () => {
    const entry = (manager: string, container: string) => ({
      manager,
      fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': resources(container) } } },
    });
    expect(
      templateManagers([entry('argocd', 'app'), entry('kubectl', 'app'), entry('argocd', 'app'), entry('hpa', 'log')]),
    ).toEqual({
      app: ['argocd', 'kubectl'],
      log: ['hpa'],
    });
    // A name that every object knows is a name like others.
    expect(templateManagers([entry('argocd', 'constructor')])).toEqual({ constructor: ['argocd'] });
  });

  test('of a resize only, each once; keys that are no key are passed over', () => {
    const entry = (manager: string, spec: object, subresource = 'resize') => ({
      manager,
      subresource,
      fieldsV1: { 'f:spec': spec },
    });
    const odd = {
      'f:containers': { 'k:{broken': { 'f:resources': {} }, '.': {}, 'k:{"id":1}': { 'f:resources': {} } },
    };
    expect(
      resizeManagers([
        entry('b', resources('app')),
        entry('a', resources('app')),
        entry('b', resources('log')),
        entry('c', odd),
        entry('d', resources('app'), 'status'),
      ]),
    ).toEqual(['a', 'b']);
    expect(resizeManagers(undefined)).toEqual([]);
  });
});
