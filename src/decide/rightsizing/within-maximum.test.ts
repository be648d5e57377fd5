import { expect, test } from 'vitest';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { aDeployment, aReplicaSet } from '../../model/testing/records.ts';
import { aContainer, aSizedPod } from '../../model/testing/sizing-records.ts';
import type { DriftedPod } from './pod-drift.ts';
import { isWithinMaximum, withinMaximum } from './within-maximum.ts';

const bounds = { cpu: { min: 10, max: 400 }, memory: { min: 10, max: 512 } };
const template = [aContainer({ size: { cpuRequest: 100, memoryRequest: 900 } })];

/** A pod with the size `had` that is to have `to`. */
const driftedTo = (had: ContainerSize, to: ContainerSize): DriftedPod => {
  const record = aSizedPod(aReplicaSet(aDeployment()), 'web', { containers: [aContainer({ size: had })] });
  return { pod: { pod: record, sizing: record.sizing }, changes: [{ container: 'app', to }] };
};

test.each<readonly [string, ContainerSize, ContainerSize, ContainerSize | undefined]>([
  ['as much as the maximum', { memoryRequest: 256 }, { memoryRequest: 512 }, { memoryRequest: 512 }],
  [
    'not a byte more, nor the limit of more',
    { memoryRequest: 256 },
    { memoryRequest: 513, memoryLimit: 999 },
    undefined,
  ],
  ['no more from nothing', {}, { memoryRequest: 513 }, undefined],
  ['less, even if it is still too much', { memoryRequest: 800 }, { memoryRequest: 700 }, { memoryRequest: 700 }],
  ['what the template says', { memoryRequest: 256 }, { memoryRequest: 900 }, { memoryRequest: 900 }],
  ['another limit for what it requests', { memoryRequest: 800 }, { memoryLimit: 999 }, { memoryLimit: 999 }],
  [
    'the other resource',
    { cpuRequest: 50, memoryRequest: 1 },
    { cpuRequest: 90, memoryRequest: 600 },
    { cpuRequest: 90 },
  ],
  ['CPU by its own maximum', { cpuRequest: 50 }, { cpuRequest: 401 }, undefined],
])('a pod is given %s', (_, had, to, given) => {
  const drifted = driftedTo(had, to);
  expect(withinMaximum(drifted, template, bounds)[0]?.changes[0]?.to).toEqual(given);
  // A new pod would have all of it.
  expect(isWithinMaximum(drifted, template, bounds)).toBe(
    given !== undefined && Object.keys(given).length === Object.keys(to).length,
  );
});
