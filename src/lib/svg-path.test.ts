import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areaPath, linePath, type PlotPoint } from './svg-path.ts';

const coordinate = fc.double({ min: -1e6, max: 1e6, noNaN: true });
const point = fc.tuple(coordinate, coordinate);

describe('a line', () => {
  test.each<[string, (PlotPoint | undefined)[], string]>([
    ['of no points', [], ''],
    ['of one point', [[1, 2]], 'M1.0 2.0'],
    [
      'goes through its points',
      [
        [0, 1],
        [2.04, 3.06],
        [4, 5],
      ],
      'M0.0 1.0 L2.0 3.1 L4.0 5.0',
    ],
    ['has gaps', [undefined, [0, 1], undefined, undefined, [2, 3], [4, 5]], 'M0.0 1.0 M2.0 3.0 L4.0 5.0'],
  ])('%s', (_, points, path) => {
    expect(linePath(points)).toBe(path);
  });

  test('for any points, draws each of them once and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.option(point, { nil: undefined })), (points) => {
        const path = linePath(points);
        expect(path).toMatch(/^(?:M-?\d+\.\d -?\d+\.\d(?: [ML]-?\d+\.\d -?\d+\.\d)*)?$/);
        expect(path.match(/[ML]/g) ?? []).toHaveLength(points.filter((each) => each !== undefined).length);
      }),
    );
  });
});

test('an area is outlined there and back, and closed', () => {
  expect(
    areaPath(
      [
        [0, 1],
        [2, 1],
      ],
      [
        [0, 5],
        [2, 6],
      ],
    ),
  ).toBe('M0.0 1.0 L2.0 1.0 L2.0 6.0 L0.0 5.0 Z');
  expect(areaPath([], [])).toBe('');
});
