import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChanges, qosClassOf } from '../../model/pod-size.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { noAdvice, type ResourceAdvice } from './advice.ts';
import { dueChanges } from './due-changes.ts';
import { keepBurstable } from './keep-burstable.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { dueAdvice } from './testing/advice.ts';

const none = noAdvice('NoData', 'nothing');
const limits = { cpuLimit: 1000, memoryLimit: 512 * MIB };
const half: ContainerSize = { ...limits, cpuRequest: 500, memoryRequest: 256 * MIB };
const adviceFor = (current: ContainerSize, cpu: ResourceAdvice, memory: ResourceAdvice, container = 'app') =>
  ({ container, current, cpu, memory }) satisfies SizedAdvice;
const requests = (advice: readonly SizedAdvice[]) => advice.map(({ cpu, memory }) => [cpu.request, memory.request]);

describe('requests that all come to their limits', () => {
  test('CPU stays a millicore below, and says so', () => {
    const [advice] = keepBurstable(
      [adviceFor(half, dueAdvice(1000), dueAdvice(512 * MIB))],
      [aContainer({ size: half })],
    );
    expect([advice?.cpu.request, advice?.memory.request]).toEqual([999, 512 * MIB]);
    expect(advice?.cpu.notes.at(-1)?.text).toContain('Burstable');
    expect(advice?.cpu.target).toBe(1000);
  });

  test('where CPU is at its limit already, memory stays a MiB below', () => {
    const size = { ...half, cpuRequest: 1000 };
    const [advice] = keepBurstable([adviceFor(size, none, dueAdvice(512 * MIB))], [aContainer({ size })]);
    expect(advice?.memory.request).toBe(511 * MIB);
  });

  test('one container of several is enough', () => {
    const two = [
      adviceFor(half, dueAdvice(1000), dueAdvice(512 * MIB)),
      adviceFor(half, dueAdvice(1000), dueAdvice(512 * MIB), 'log'),
    ];
    expect(requests(keepBurstable(two, [aContainer({ size: half }), aContainer({ name: 'log', size: half })]))).toEqual(
      [
        [999, 512 * MIB],
        [1000, 512 * MIB],
      ],
    );
  });
});

describe('nothing to keep', () => {
  test.each<[string, ContainerSize, ResourceAdvice, ResourceAdvice]>([
    ['one of the two stays below its limit', half, dueAdvice(1000), dueAdvice(400 * MIB)],
    ['one is not due', half, dueAdvice(1000), none],
    ['there is no limit', { cpuRequest: 1, memoryRequest: MIB }, dueAdvice(1000), dueAdvice(512 * MIB)],
    [
      'the pods are Guaranteed',
      { ...limits, cpuRequest: 1000, memoryRequest: 512 * MIB },
      dueAdvice(900, 900),
      dueAdvice(100 * MIB, 100 * MIB),
    ],
  ])('%s', (_, size, cpu, memory) => {
    const advice = [adviceFor(size, cpu, memory)];
    expect(keepBurstable(advice, [aContainer({ size })])).toBe(advice);
  });
});

test('for any Burstable size and any advice within its limits, the class stays', () => {
  const share = fc.integer({ min: 2, max: 100 });
  fc.assert(
    fc.property(share, share, share, share, fc.boolean(), (cpu, memory, toCpu, toMemory, isMemoryDue) => {
      const size = { ...limits, cpuRequest: cpu * 10, memoryRequest: memory * 5 * MIB };
      const containers = [aContainer({ size })];
      fc.pre(qosClassOf([size]) === 'Burstable');
      const ram = isMemoryDue ? dueAdvice(Math.min(512, toMemory * 6) * MIB) : none;
      const advice = keepBurstable([adviceFor(size, dueAdvice(toCpu * 10), ram)], containers);
      const after = applyChanges(containers, dueChanges(advice));
      expect(qosClassOf(after.map((each) => each.size))).toBe('Burstable');
    }),
    { numRuns: 200 },
  );
});
