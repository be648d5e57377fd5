import { expect, test } from 'vitest';
import type { RestorePlan } from '../../decide/restore-size.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { aDeployment } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { inRestoreOrder } from './restore-order.ts';

const size = { cpuRequest: 500, memoryRequest: 1024 * MIB };

function restore(name: string, to: ContainerSize | undefined) {
  const { sizing, ...pod } = aSizedPod(aDeployment(), name, { containers: [aContainer({ size })] });
  const plan =
    to === undefined ? { kind: 'nothing' } : { kind: 'resize', decision: { changes: [{ container: 'app', to }] } };
  return { pod: { pod, sizing }, plan: plan as RestorePlan };
}

const namesOf = (...wanted: ReturnType<typeof restore>[]) =>
  inRestoreOrder(wanted).map((phase) => phase.map(({ pod }) => pod.pod.name));

test('who needs no more of anything comes first, CPU and memory alike; then who needs least', () => {
  const [gives, takes] = namesOf(
    restore('more-cpu', { cpuRequest: 1500 }),
    restore('more-memory', { memoryRequest: 8192 * MIB }),
    restore('more-memory-less-cpu', { cpuRequest: 100, memoryRequest: 1025 * MIB }),
    restore('less-memory', { memoryRequest: 512 * MIB }),
    restore('less-cpu', { cpuRequest: 100 }),
    restore('a-limit', { cpuLimit: 2000 }),
    restore('has-it', undefined),
  );
  expect(gives).toEqual(['less-cpu', 'less-memory', 'a-limit', 'has-it']);
  expect(takes).toEqual(['more-memory-less-cpu', 'more-cpu', 'more-memory']);
});
