import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readKeptSizes } from './kept-sizes.ts';
import { sizeKeys } from './pod-size.ts';

const most = Number.MAX_SAFE_INTEGER;

describe('kept sizes', () => {
  test('are read by container, with what was there before', () => {
    const value = { app: { cpuRequest: [200, 120], memoryLimit: [null, most] }, log: { cpuLimit: [0, 0] } };
    expect(readKeptSizes(value)).toEqual([
      { container: 'app', amounts: { cpuRequest: [200, 120], memoryLimit: [null, most] } },
      { container: 'log', amounts: { cpuLimit: [0, 0] } },
    ]);
  });

  test('what can be read is read, whatever stands beside it', () => {
    const value = { app: { cpuRequest: [200, 120], cpuLimit: 'much' }, log: 'nothing', db: { cpuRequest: [1, null] } };
    expect(readKeptSizes(value)).toEqual([{ container: 'app', amounts: { cpuRequest: [200, 120] } }]);
  });

  test.each([
    ['one amount', [200]],
    ['three', [200, 120, 1]],
    ['no amount to go to', [200, null]],
    ['a fraction', [200, 1.5]],
    ['a fraction before', [1.5, 200]],
    ['less than nothing', [200, -1]],
    ['more than can be told apart', [200, most + 1]],
    ['text', [200, '120']],
    ['text before', ['200', 120]],
    ['nothing said of before', [undefined, 120]],
    ['a mapping', { 0: 200, 1: 120, length: 2 }],
  ])('%s says nothing', (_name, amount) => {
    expect(readKeptSizes({ app: { cpuRequest: amount } })).toEqual([]);
  });

  test('for any value, what is read are amounts of known sizes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.anything()))),
        (value) => {
          for (const { amounts } of readKeptSizes(value)) {
            expect(Object.keys(amounts).length).toBeGreaterThan(0);
            expect(sizeKeys).toEqual(expect.arrayContaining(Object.keys(amounts)));
          }
        },
      ),
    );
  });
});
