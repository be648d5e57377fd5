import { describe, expect, test } from 'vitest';
import { restartedContainer } from './restart-on-resize.ts';
import type { ContainerSpecRecord } from './sizing-records.ts';

const container = (changes: Partial<ContainerSpecRecord>): ContainerSpecRecord => ({
  name: 'app',
  isSidecar: false,
  size: {},
  cpuRestart: 'NotRequired',
  memoryRestart: 'NotRequired',
  hasReadinessProbe: false,
  ...changes,
});

describe('a container that restarts when resized', () => {
  test.each([
    ['none asks for it', {}, { cpuRequest: 1, memoryRequest: 1 }, undefined],
    ['by a request of CPU', { cpuRestart: 'RestartContainer' }, { cpuRequest: 1 }, 'cpu'],
    ['by a limit of CPU', { cpuRestart: 'RestartContainer' }, { cpuLimit: 1 }, 'cpu'],
    ['not by memory, where CPU asks for it', { cpuRestart: 'RestartContainer' }, { memoryRequest: 1 }, undefined],
    ['by a request of memory', { memoryRestart: 'RestartContainer' }, { memoryRequest: 1 }, 'memory'],
    ['by a limit of memory', { memoryRestart: 'RestartContainer' }, { memoryLimit: 1 }, 'memory'],
    ['not by CPU, where memory asks for it', { memoryRestart: 'RestartContainer' }, { cpuLimit: 1 }, undefined],
  ] as const)('%s', (_, changes, to, resource) => {
    const restarted = restartedContainer([container(changes)], [{ container: 'app', to }]);
    expect(restarted?.resource).toBe(resource);
  });

  test('only of what changes, and only of containers that are there', () => {
    const containers = [container({}), container({ name: 'log', cpuRestart: 'RestartContainer' })];
    expect(restartedContainer(containers, [{ container: 'app', to: { cpuRequest: 1 } }])).toBeUndefined();
    expect(restartedContainer(containers, [{ container: 'gone', to: { cpuRequest: 1 } }])).toBeUndefined();
    expect(restartedContainer(containers, [{ container: 'log', to: { cpuRequest: 1 } }])?.container).toBe('log');
  });
});
