import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, aTemplate, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { besideContainers, nothingBeside } from './beside-containers.ts';

const app = aContainer({ size: { cpuRequest: 100, memoryRequest: 50 * MIB } });
const proxySize = { cpuRequest: 30, cpuLimit: 200, memoryRequest: 20 * MIB, memoryLimit: 40 * MIB };
const proxy = aContainer({ name: 'proxy', size: proxySize });
const podWith = (containers: (typeof app)[], changes: Partial<PodRecord> = {}): SizedPod => {
  const record = aSizedPod(aReplicaSet(aDeployment()), 'web-1', { containers }, changes);
  return { pod: record, sizing: record.sizing };
};

describe('what pods have beside the containers of their template', () => {
  test.each<[string, SizedPod[], typeof nothingBeside]>([
    ['nothing, as a rule', [podWith([app])], nothingBeside],
    [
      'containers that were added to one of them',
      [podWith([app, proxy]), podWith([app])],
      { sizes: proxySize, ofNode: { cpuMillis: 30, memoryBytes: 20 * MIB } },
    ],
    [
      'overhead, which is of the node only',
      [podWith([app], { template: aTemplate({ requests: { cpuMillis: 350, memoryBytes: 170 * MIB } }) })],
      { ...nothingBeside, ofNode: { cpuMillis: 250, memoryBytes: 120 * MIB } },
    ],
    ['nothing of one that goes', [podWith([app, proxy], { deletingAt: NOON })], nothingBeside],
    ['nothing without pods', [], nothingBeside],
  ])('%s', (_, pods, expected) => {
    expect(besideContainers(pods, [app])).toEqual(expected);
  });
});
