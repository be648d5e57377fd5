import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultLabelNames } from './promql.ts';
import { cleaned } from './read-answer.ts';
import { readMatrix } from './read-matrix.ts';

const read = (answer: unknown) => readMatrix(answer, defaultLabelNames);
const metric = { pod: 'web-a', container: 'app' };
const success = (result: unknown, more: object = {}) => ({
  status: 'success',
  data: { resultType: 'matrix', result },
  ...more,
});
const one = (values: unknown) => read(success([{ metric, values }]));

/** Answers as the servers give them, written down by hand. */
const recorded = {
  prometheus: success(
    [
      {
        metric,
        values: [
          [1700000000, '0.25'],
          [1700000060.5, '0.5'],
        ],
      },
    ],
    { warnings: ['w'], infos: ['PromQL info: i'] },
  ),
  thanos: success(
    [
      {
        metric,
        values: [
          [1700000000, '0.25'],
          [1700000060.5, '0.5'],
        ],
      },
    ],
    { warnings: ['w'], analysis: { samples: 2 }, infos: ['PromQL info: i'] },
  ),
  victoriametrics: {
    status: 'success',
    isPartial: false,
    data: {
      resultType: 'matrix',
      result: [
        {
          metric: { ...metric, __name__: 'x' },
          values: [
            [1700000000, '0.25'],
            [1700000060.5, '0.5'],
          ],
        },
      ],
    },
    stats: { seriesFetched: '1', executionTimeMsec: 3 },
    warnings: ['w', 'PromQL info: i'],
  },
  mimir: {
    ...success([
      {
        metric,
        values: [
          [1700000000, '0.25'],
          [1700000060.5, '0.5'],
        ],
      },
    ]),
    warnings: ['w', 'PromQL info: i'],
    infos: null,
  },
  'values as numbers': success(
    [
      {
        metric,
        values: [
          [1700000000, 0.25],
          [1700000060.5, 0.5],
        ],
      },
    ],
    { warnings: ['w', 'PromQL info: i'] },
  ),
  'instants as text': success(
    [
      {
        metric,
        values: [
          ['1700000000', '0.25'],
          ['1700000060.5', '0.5'],
        ],
      },
    ],
    { warnings: ['w', 'PromQL info: i'] },
  ),
  milliseconds: success(
    [
      {
        metric,
        values: [
          [1700000000000, '0.25'],
          [1700000060500, '0.5'],
        ],
      },
    ],
    { warnings: ['w', 'PromQL info: i'] },
  ),
  'data without its frame': {
    resultType: 'matrix',
    result: [
      {
        metric,
        values: [
          [1700000000, '0.25'],
          [1700000060.5, '0.5'],
        ],
      },
    ],
    warnings: ['w', 'PromQL info: i'],
  },
};

describe('answers of a range query', () => {
  test.each(Object.entries(recorded))('%s', (_name, answer) => {
    expect(read(answer)).toEqual({
      ok: true,
      series: [
        {
          pod: 'web-a',
          container: 'app',
          points: [
            { at: 1700000000000, value: 0.25 },
            { at: 1700000060500, value: 0.5 },
          ],
        },
      ],
      warnings: ['w', 'PromQL info: i'],
    });
  });

  test.each([
    ['an empty list', success([])],
    ['a nil slice of Go', success(null)],
  ])('%s is no fault', (_name, answer) => {
    expect(read(answer)).toEqual({ ok: true, series: [], warnings: [] });
  });

  test('one value, where an instant was answered', () => {
    expect(read(success([{ metric, value: [5, '1'] }]))).toMatchObject({
      series: [{ points: [{ at: 5000, value: 1 }] }],
    });
  });

  test('NaN, infinities, negative rates and nonsense are left out, gaps stay gaps', () => {
    const values = [
      [1, '1'],
      [2, 'NaN'],
      [3, '+Inf'],
      [4, '-Inf'],
      [5, '-1'],
      [6, null],
      [7, ''],
      [8, 'x'],
      'nine',
      [],
      [null, '1'],
      [-5, '1'],
      [60, '2'],
    ];
    expect(one(values)).toMatchObject({
      series: [
        {
          points: [
            { at: 1000, value: 1 },
            { at: 60_000, value: 2 },
          ],
        },
      ],
    });
  });

  test('series that are there twice are one: the highest of each instant, in order of time', () => {
    const answer = read(
      success([
        {
          metric,
          values: [
            [2, '5'],
            [1, '1'],
          ],
        },
        {
          metric: { ...metric, replica: 'b' },
          values: [
            [1, '3'],
            [3, '4'],
          ],
        },
      ]),
    );
    expect(answer).toMatchObject({
      series: [
        {
          points: [
            { at: 1000, value: 3 },
            { at: 2000, value: 5 },
            { at: 3000, value: 4 },
          ],
        },
      ],
    });
  });

  test('series that cannot be told apart are left out, with a word', () => {
    const answer = read(
      success([
        { metric: { pod: 'a' }, values: [[1, '1']] },
        { values: [] },
        7,
        { metric, histograms: [] },
        { metric, values: [[1, '1']] },
      ]),
    );
    expect(answer).toMatchObject({
      ok: true,
      series: [{ pod: 'web-a' }],
      warnings: [expect.stringMatching(/^4 series/)],
    });
  });

  test('a partial answer is used, and said to be partial', () => {
    expect(read({ ...success([]), isPartial: true })).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('partial')],
    });
  });

  test('an error of the source is told in its words, on one line', () => {
    expect(read({ status: 'error', errorType: 'bad_data', error: 'invalid\nparameter \u001b[31m"query"' })).toEqual({
      ok: false,
      kind: 'error',
      message: 'bad_data: invalid parameter  [31m"query"',
    });
    expect(read({ status: 'error' })).toMatchObject({ message: 'no reason was given' });
  });

  test.each([['text'], [5], [null], [undefined], [[]], [{}], [{ status: 'success' }], [{ data: { result: 'x' } }]])(
    '%j cannot be read',
    (answer) => {
      expect(read(answer)).toMatchObject({ ok: false, kind: 'malformed' });
    },
  );

  test('long texts are cut', () => {
    expect(cleaned('x'.repeat(1000))).toHaveLength(303);
  });

  test('for any answer at all, it is read or refused, never thrown; points are finite, in order, one an instant', () => {
    const anything = fc.anything({ maxDepth: 4 });
    const value = fc.oneof(fc.double().map(String), fc.constantFrom('NaN', '+Inf', ''), anything);
    const values = fc.array(fc.oneof(fc.tuple(fc.oneof(fc.double(), fc.nat()), value), anything));
    const series = fc.record({ metric: fc.oneof(fc.constant(metric), anything), values: fc.oneof(values, anything) });
    const answers = fc.oneof(
      anything,
      fc.record({
        status: fc.constantFrom('success', 'error', 'x'),
        data: fc.record({ result: fc.oneof(fc.array(series), anything) }),
        warnings: anything,
      }),
    );
    fc.assert(
      fc.property(answers, (answer) => {
        const found = read(answer);
        if (!found.ok) {
          expect(found.message).not.toBe('');
          return;
        }
        for (const { points } of found.series) {
          expect(
            points.every(({ at, value: amount }) => Number.isFinite(at) && Number.isFinite(amount) && amount >= 0),
          ).toBe(true);
          expect(new Set(points.map(({ at }) => at)).size).toBe(points.length);
          expect(points.map(({ at }) => at)).toEqual(points.map(({ at }) => at).toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 300 },
    );
  });
});
