import { expect, test } from 'vitest';
import { readAppliedSizes } from '../../model/applied-sizes.ts';
import type { PodRecord } from '../../model/records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { wornSizes } from './worn-sizes.ts';

const applied = readAppliedSizes(
  JSON.stringify({
    app: { cpuRequest: [500, 240], memoryRequest: [512 * MIB, 120 * MIB] },
    log: { memoryRequest: [null, 16 * MIB] },
  }),
);
const log = (memoryRequest = 16 * MIB) => aContainer({ name: 'log', size: { memoryRequest } });
const app = (cpuRequest: number, memoryRequest: number) => aContainer({ size: { cpuRequest, memoryRequest } });
const pod = (containers: ReturnType<typeof aContainer>[], changes: Partial<PodRecord> = {}): SizedPod => {
  const { sizing, ...record } = aSizedPod(aDeployment(), 'web-1', { containers }, changes);
  return { pod: record, sizing };
};
const applied1 = pod([app(240, 120 * MIB), log()]);
const asTemplate = pod([app(500, 512 * MIB), aContainer({ name: 'log', size: {} })]);

test.each<[string, readonly SizedPod[], boolean, readonly string[]]>([
  ['no pod tells', [], false, ['app', 'log']],
  ['all have them', [applied1], false, ['app', 'log']],
  ['a webhook of somebody else rounds them', [pod([app(300, 128 * MIB), log(17 * MIB)])], false, ['app', 'log']],
  ['a webhook of somebody else rounds those of the template', [pod([app(480, 500 * MIB), log(1)])], false, []],
  ['one of two has them', [asTemplate, applied1], false, ['app', 'log']],
  ['none has them', [asTemplate], false, []],
  [
    'one that waits for a node has them',
    [asTemplate, pod(applied1.sizing.containers.slice(), { phase: 'Pending' })],
    false,
    ['app', 'log'],
  ],
  [
    'only one that ends has them',
    [asTemplate, pod(applied1.sizing.containers.slice(), { deletingAt: NOON })],
    false,
    [],
  ],
  [
    'only one that has ended has them',
    [asTemplate, pod(applied1.sizing.containers.slice(), { phase: 'Succeeded' })],
    false,
    [],
  ],
  ['of one container none has them', [pod([app(240, 120 * MIB), log(1)])], false, ['app']],
  ['half of them is none of them', [pod([app(240, 512 * MIB), log()])], false, ['log']],
  ['CPU that is shared out says nothing', [pod([app(333, 120 * MIB), log()])], true, ['app', 'log']],
  ['memory says it then', [pod([app(240, 512 * MIB), log()])], true, ['log']],
  ['a container that is gone has nothing', [pod([log()])], false, ['log']],
])('%s', (_, pods, isAllocated, expected) => {
  expect(wornSizes(applied, pods, () => isAllocated).map(({ container }) => container)).toEqual(expected);
});
