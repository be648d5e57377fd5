import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { MIB } from '../../model/testing/sizing-records.ts';
import { ownCpuOf, withOwnCpu } from './own-cpu.ts';

const amount = fc.option(fc.nat({ max: 65_534 }), { nil: undefined });
const present = (value: Readonly<Record<string, number | undefined>>): ContainerSize =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));

test('for any CPU, sizes with it are what they were', () => {
  const container = fc.record({
    memoryRequest: amount,
    memoryLimit: amount,
    cpus: fc.tuple(amount, amount, amount, amount),
  });
  fc.assert(
    fc.property(fc.array(container, { maxLength: 4 }), (containers) => {
      const [sizes, others] = [0, 2].map((first) =>
        containers.map(({ cpus, memoryRequest, memoryLimit }) =>
          present({ cpuRequest: cpus[first], cpuLimit: cpus[first + 1], memoryRequest, memoryLimit }),
        ),
      );
      const own = ownCpuOf(sizes ?? [], others ?? []);
      expect(own).toBeDefined();
      expect(withOwnCpu(others ?? [], own ?? '')).toEqual(sizes);
    }),
  );
});

test.each([
  ['other memory', [{ cpuRequest: 100, memoryRequest: MIB }], [{ cpuRequest: 100, memoryRequest: 2 * MIB }]],
  ['another limit of memory', [{ cpuRequest: 100, memoryLimit: MIB }], [{ cpuRequest: 100 }]],
  ['another number of containers', [{ cpuRequest: 100 }], [{ cpuRequest: 100 }, { cpuRequest: 100 }]],
  ['more cores than can be written', [{ cpuRequest: 65_535 }], [{ cpuRequest: 100 }]],
  ['parts of a millicore', [{ cpuRequest: 0.5 }], [{ cpuRequest: 100 }]],
])('%s cannot be told by CPU', (_, sizes, others) => {
  expect(ownCpuOf(sizes, others)).toBeUndefined();
});
