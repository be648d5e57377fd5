import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readVector } from './read-vector.ts';

const vector = (result: unknown): unknown => ({ status: 'success', data: { resultType: 'vector', result } });

describe('the answer of an instant query', () => {
  test('is a number for each set of labels', () => {
    const metric = { namespace: 'shop', pod: 'web-1' };
    expect(readVector(vector([{ metric, value: [1_700_000_000, '0.25'] }]))).toEqual({
      ok: true,
      samples: [{ labels: metric, value: 0.25 }],
    });
  });

  test.each([
    ['no samples', []],
    ['null', null],
  ])('%s is an empty vector', (_name, result) => {
    expect(readVector(vector(result))).toEqual({ ok: true, samples: [] });
  });

  test('some proxies hand on the data alone', () => {
    expect(readVector({ result: [{ metric: {}, value: [0, 7] }] })).toEqual({
      ok: true,
      samples: [{ labels: {}, value: 7 }],
    });
  });

  test.each([
    ['NaN', [0, 'NaN']],
    ['infinite', [0, '+Inf']],
    ['empty', [0, '']],
    ['of another type', [0, {}]],
    ['missing', [0]],
    ['no pair', 'x'],
  ])('a value that is %s is left out, and the others are not', (_name, value) => {
    const items = [
      { metric: { pod: 'a' }, value },
      { metric: { pod: 'b' }, value: [0, '1'] },
      { value: [0, '1'] },
      null,
    ];
    expect(readVector(vector(items))).toEqual({ ok: true, samples: [{ labels: { pod: 'b' }, value: 1 }] });
  });

  test('labels that are no text are left out', () => {
    expect(readVector(vector([{ metric: { pod: 'a', odd: 5 }, value: [0, '1'] }]))).toMatchObject({
      samples: [{ labels: { pod: 'a' } }],
    });
  });

  test.each([
    ['an error of its own', { status: 'error', error: 'parse\nerror' }, 'error', 'parse error'],
    ['an error without a word', { status: 'error' }, 'error', 'no reason was given'],
    ['a list', [], 'malformed', 'the answer is not a JSON object'],
    ['no result', { status: 'success', data: {} }, 'malformed', 'the answer has no data.result'],
  ])('%s', (_name, answer, kind, message) => {
    expect(readVector(answer)).toEqual({ ok: false, kind, message });
  });

  test('for any JSON, an answer comes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const answer of [value, vector(value), vector([value])]) {
          const read = readVector(answer);
          if (read.ok) for (const sample of read.samples) expect(Number.isFinite(sample.value)).toBe(true);
          else expect(read.message).not.toBe('');
        }
      }),
    );
  });
});
