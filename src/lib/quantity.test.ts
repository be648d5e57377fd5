import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from './errors.ts';
import {
  formatQuantity,
  fromBytes,
  fromMillicores,
  parseQuantity,
  type Quantity,
  toBytes,
  toMillicores,
  tryParseMillicores,
  tryParseQuantity,
} from './quantity.ts';
import golden from './testdata/quantity.json' with { type: 'json' };

const validRows = golden.valid as unknown as readonly [string, string, string, number | null, number | null][];
const print = (text: string): string => formatQuantity(parseQuantity(text));

describe('golden vectors of the Go implementation', () => {
  test('the table is there', () => {
    expect(validRows.length).toBeGreaterThan(300);
    expect(golden.invalid.length).toBeGreaterThan(35);
  });

  test.each(validRows)('%j prints as %j in format %s', (text, canonical, format, millis, value) => {
    const quantity = parseQuantity(text);
    expect(formatQuantity(quantity)).toBe(canonical);
    expect(quantity.format).toBe(format);
    if (millis !== null) expect(toMillicores(quantity)).toBe(millis);
    if (value !== null) expect(toBytes(quantity)).toBe(value);
  });

  test.each(golden.invalid)('%j is refused', (text) => {
    expect(() => parseQuantity(text)).toThrow(InvalidValueError);
    expect(tryParseQuantity(text)).toBeUndefined();
  });
});

describe('CPU that somebody wrote', () => {
  test.each([
    ['2', 2000],
    ['100m', 100],
    ['1n', 1],
    ['-250m', -250],
    ['1k', 1_000_000],
    ['0', 0],
    ['', undefined],
    ['much', undefined],
    ['1 ', undefined],
    [2, undefined],
    [undefined, undefined],
    [null, undefined],
    [{ cpu: '1' }, undefined],
  ])('%j is %s millicores', (text, expected) => {
    expect(tryParseMillicores(text)).toBe(expected);
  });
});

describe('documented forms', () => {
  test.each([
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['1500', '1500'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['12e6', '12e6'],
    ['1e10', '10e9'],
    ['100Ei', '9223372036854775807'],
    ['0.001Ki', '1024m'],
    ['0Gi', '0'],
  ])('%s is %s', (text, canonical) => expect(print(text)).toBe(canonical));

  test('less than a byte is decimal, whatever it was written in', () => {
    const tiny = parseQuantity('0.0001Ki');
    expect([tiny.format, formatQuantity(tiny)]).toEqual(['DecimalSI', '102400u']);
    expect(parseQuantity('-0.0001Ki').format).toBe('DecimalSI');
    expect(parseQuantity('0.001Ki').format).toBe('BinarySI');
  });

  test('amounts beyond exa keep their value, where Go drops the suffix', () => {
    expect(print('1000E')).toBe('1000E');
    expect(toBytes(parseQuantity('1000E'))).toBe(1e21);
  });

  test.each(['Mi', '+', 'e3', 'Pi'])('%s without a number is zero, as Kubernetes reads it', (text) => {
    expect(print(text)).toBe('0');
  });

  test('an exponent that would fill the memory is refused', () => {
    expect(() => parseQuantity('1e401')).toThrow(InvalidValueError);
    expect(() => parseQuantity('1e999999999')).toThrow(/accepted/);
    expect(print('1e-400')).toBe('1e-9');
  });

  test.each(['1'.repeat(1_001), `0.${'1'.repeat(3_000_000)}`, `1${'0'.repeat(1_000)}Mi`])(
    'more digits than anybody means are refused, in few words',
    (text) => {
      expect(() => parseQuantity(text)).toThrow(
        expect.objectContaining({ value: expect.stringMatching(/^.{90,140}$/) }),
      );
      expect(parseQuantity('1'.repeat(1_000)).nanos).toBe(BigInt('1'.repeat(1_000)) * 1_000_000_000n);
    },
  );

  test('an error names the text and what is accepted', () => {
    expect(() => parseQuantity('12KB')).toThrow(/"12KB".*Ki, Mi/);
  });
});

describe('conversions', () => {
  test.each([
    ['100m', 100],
    ['1', 1000],
    ['0.0001', 1],
    ['1.0001', 1001],
    ['2.5', 2500],
    ['0', 0],
    ['-1.5m', -2],
  ])('%s is %d millicores, rounded up', (text, millicores) =>
    expect(toMillicores(parseQuantity(text))).toBe(millicores),
  );

  test.each([
    ['1Ki', 1024],
    ['1k', 1000],
    ['128974848', 128_974_848],
    ['129e6', 129_000_000],
    ['1.1', 2],
    ['1m', 1],
  ])('%s is %d bytes, rounded up', (text, bytes) => expect(toBytes(parseQuantity(text))).toBe(bytes));

  test('numbers become quantities', () => {
    expect(formatQuantity(fromMillicores(250))).toBe('250m');
    expect(formatQuantity(fromMillicores(2000))).toBe('2');
    expect(formatQuantity(fromBytes(134_217_728))).toBe('128Mi');
    expect(formatQuantity(fromBytes(1000))).toBe('1k');
    expect(formatQuantity(fromBytes(1025))).toBe('1025');
  });
});

describe('for any quantity', () => {
  const quantities: fc.Arbitrary<Quantity> = fc.record({
    nanos: fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
    format: fc.constantFrom('DecimalSI', 'DecimalExponent', 'BinarySI'),
  });
  const texts = fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      fc.stringMatching(/^\d{1,12}(\.\d{0,12})?$/),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-3', 'e12'),
    )
    .map((parts) => parts.join(''));

  test('printing and reading back keeps the amount', () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const capped = quantity.format === 'BinarySI' && quantity.nanos > (2n ** 63n - 1n) * 1_000_000_000n;
        fc.pre(!capped);
        expect(parseQuantity(formatQuantity(quantity)).nanos).toBe(quantity.nanos);
      }),
    );
  });

  test('the canonical text is its own canonical text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(print(print(text))).toBe(print(text));
      }),
    );
  });

  test('whole numbers, which have a shorter way, are read as they are with a sign', () => {
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        fc.nat(3),
        fc.constantFrom(...suffixes),
        (value, zeros, suffix) => {
          const text = `${'0'.repeat(zeros)}${value}${suffix}`;
          expect(parseQuantity(text)).toEqual(parseQuantity(`+${text}`));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('no text makes the parser throw anything but InvalidValueError', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseQuantity(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidValueError);
        }
      }),
    );
  });
});
