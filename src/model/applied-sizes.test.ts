import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAppliedSizes, withAppliedSizes, writeAppliedSizes } from './applied-sizes.ts';
import { aContainer, MIB, smallSize } from './testing/sizing-records.ts';

const template = [aContainer(), aContainer({ name: 'log', size: { cpuRequest: 50 } })];
const applied = (text: string | undefined) => readAppliedSizes(text);

describe('applied sizes', () => {
  test('only what differs from the template is kept, with what the template said', () => {
    const inForce = [aContainer({ size: { ...smallSize, cpuRequest: 120 } }), template[1] ?? aContainer()];
    expect(writeAppliedSizes(template, inForce)).toBe('{"app":{"cpuRequest":[200,120]}}');
    expect(writeAppliedSizes(template, template)).toBeUndefined();
  });

  test('an amount the template does not have is remembered as such', () => {
    const inForce = [aContainer({ name: 'log', size: { cpuRequest: 50, memoryRequest: 64 * MIB } })];
    expect(writeAppliedSizes(template, inForce)).toBe(`{"log":{"memoryRequest":[null,${64 * MIB}]}}`);
  });

  test('a template that was edited since means what it says', () => {
    const text = '{"app":{"cpuRequest":[200,120]},"log":{"cpuRequest":[50,20]}}';
    const edited = [aContainer({ size: { ...smallSize, cpuRequest: 300 } }), template[1] ?? aContainer()];
    expect(withAppliedSizes(edited, applied(text)).map(({ size }) => size.cpuRequest)).toEqual([300, 20]);
    expect(withAppliedSizes(template, applied(text)).map(({ size }) => size.cpuRequest)).toEqual([120, 20]);
  });

  test('one edited amount voids what was applied to its container', () => {
    const text = '{"app":{"cpuRequest":[200,120],"memoryRequest":[134217728,67108864]}}';
    const edited = [aContainer({ size: { ...smallSize, memoryRequest: 200 * MIB } })];
    expect(withAppliedSizes(edited, applied(text))[0]?.size).toEqual({ ...smallSize, memoryRequest: 200 * MIB });
  });

  test('so does a limit that was lowered since below what was applied: pods would be refused', () => {
    const text = '{"app":{"cpuRequest":[200,380],"memoryRequest":[134217728,200000000]}}';
    const inForce = (limits: object) =>
      withAppliedSizes([aContainer({ size: { ...smallSize, ...limits } })], applied(text))[0]?.size;
    expect(inForce({ cpuLimit: 380, memoryLimit: 200_000_000 })).toMatchObject({ cpuRequest: 380 });
    expect(inForce({ cpuLimit: 379 })).toEqual({ ...smallSize, cpuLimit: 379 });
    expect(inForce({ memoryLimit: 199_999_999 })).toEqual({ ...smallSize, memoryLimit: 199_999_999 });
  });

  test.each([
    [undefined],
    [''],
    ['{'],
    ['[]'],
    ['null'],
    ['{"app":1}'],
    ['{"app":{"cpuRequest":120}}'],
    ['{"app":{"cpuRequest":[200]}}'],
    ['{"app":{"cpuRequest":[200,"120"]}}'],
    ['{"app":{"cpuRequest":[200,-1]}}'],
    ['{"app":{"cpuRequest":[200,1.5]}}'],
    ['{"app":{"gpuRequest":[200,120]}}'],
    // A later version's, which may mean something else by it.
    ['{"v":2,"app":{"cpuRequest":[200,120]}}'],
  ])('%s says nothing', (text) => {
    expect(applied(text)).toEqual([]);
  });

  test('for any sizes, what was written is what is in force', () => {
    const amount = fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: undefined });
    const size = fc.record({ cpuRequest: amount, memoryRequest: amount }).map(({ cpuRequest, memoryRequest }) => ({
      ...(cpuRequest !== undefined && { cpuRequest }),
      ...(memoryRequest !== undefined && { memoryRequest }),
    }));
    fc.assert(
      fc.property(size, size, (before, change) => {
        const from = [aContainer({ size: before })];
        const to = [aContainer({ size: { ...before, ...change } })];
        expect(withAppliedSizes(from, applied(writeAppliedSizes(from, to)))).toEqual(to);
      }),
      { numRuns: 200 },
    );
  });
});
