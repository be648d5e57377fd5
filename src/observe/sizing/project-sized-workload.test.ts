import { describe, expect, test } from 'vitest';
import type { DaemonSet, Pod } from '../../api/core.ts';
import { projectDaemonSet } from './project-sized-workload.ts';
import { createSizingInterners } from './sizing-interners.ts';

type Containers = NonNullable<Pod['spec']>['containers'];
const full = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
const daemonSet = (initContainers?: readonly object[]): DaemonSet => ({
  metadata: { name: 'log', namespace: 'shop', uid: 'u' },
  spec: {
    selector: {},
    template: {
      spec: {
        containers: [{ name: 'app', resources: full }],
        ...(initContainers && { initContainers: initContainers as Containers }),
      },
    },
  },
});

describe('pods that are never Guaranteed, whatever sizes their containers have', () => {
  test.each<[string, readonly object[] | undefined, boolean | undefined]>([
    ['no init container', undefined, undefined],
    ['one that runs once without requests', [{ name: 'setup' }], true],
    ['one with requests alone', [{ name: 'setup', resources: { requests: { cpu: '1', memory: '1Gi' } } }], true],
    ['one with limits, which are its requests too', [{ name: 'setup', resources: { limits: full.limits } }], undefined],
    ['one of two', [{ name: 'setup', resources: full }, { name: 'wait' }], true],
    ['a native sidecar has a record of its own', [{ name: 'proxy', restartPolicy: 'Always' }], undefined],
  ])('%s', (_, initContainers, expected) => {
    const { isNeverGuaranteed } = projectDaemonSet(daemonSet(initContainers), createSizingInterners(10));
    expect(isNeverGuaranteed).toBe(expected);
  });
});
