import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { createProjections } from './project.ts';

describe('memory: projected pods', () => {
  test('templates that differ share what they have in common', () => {
    const project = createProjections(() => {});
    const podOf = (app: string): Pod => ({
      metadata: { name: app, namespace: 'shop', labels: { app } },
      spec: {
        containers: [{ name: 'c', resources: { requests: { cpu: '250m', memory: '64Mi' } } }],
        nodeSelector: { pool: 'spot' },
        tolerations: [{ key: 'spot', operator: 'Exists' }],
      },
    });
    const one = project.pod(podOf('one'))?.template;
    const two = project.pod(podOf('two'))?.template;
    expect(one?.labels).not.toEqual(two?.labels);
    expect(one?.tolerations).toEqual([{ key: 'spot', operator: 'Exists', value: '', effect: '' }]);
    expect(one?.tolerations).toBe(two?.tolerations);
    expect(one?.nodeSelector).toBe(two?.nodeSelector);
    expect(one?.requests).toBe(two?.requests);
  });

  test('a pod that was resized shares all but its requests with the others of its template', () => {
    const project = createProjections(() => {});
    const podOf = (cpu: string): Pod => ({
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'c', resources: { requests: { cpu } } }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'Exists' }] }],
            },
          },
        },
      },
    });
    const one = project.pod(podOf('250m'))?.template;
    expect(project.pod(podOf('250m'))?.template).toBe(one);
    const resized = project.pod(podOf('317m'))?.template;
    expect(resized).toEqual({ ...one, requests: { cpuMillis: 317, memoryBytes: 0 } });
    expect(resized?.labels).toBe(one?.labels);
    expect(resized?.requiredNodeTerms).toBe(one?.requiredNodeTerms);
  });
});
