import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createListSplitter, MalformedAnswerError, readJsonLines } from './json-stream.ts';

/** Cuts `bytes` at the given places (taken modulo the length). */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...sorted, bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

function split(chunks: readonly Buffer[]): { items: unknown[]; shell: unknown } {
  const items: unknown[] = [];
  const splitter = createListSplitter((item) => items.push(item));
  for (const chunk of chunks) splitter.write(chunk);
  return { items, shell: splitter.end() };
}

async function lines(chunks: readonly Buffer[]): Promise<unknown[]> {
  const values: unknown[] = [];
  const body = (async function* () {
    yield* chunks;
  })();
  for await (const value of readJsonLines(body)) values.push(value);
  return values;
}

const unicodeJson = fc.jsonValue({ stringUnit: 'binary' });
const places = fc.array(fc.nat(), { maxLength: 12 });
const indent = fc.constantFrom(undefined, 1, '\t', ' \r\n');

describe('createListSplitter', () => {
  test('for any list, layout and chunking, items and rest are what JSON.parse finds', () => {
    const others = fc.dictionary(
      fc.oneof(
        { weight: 9, arbitrary: fc.string({ unit: 'binary' }).filter((key) => key !== 'items') },
        { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor') },
      ),
      unicodeJson,
    );
    fc.assert(
      fc.property(others, fc.array(unicodeJson), others, indent, places, (before, list, after, layout, cuts) => {
        const whole = { ...before, items: list, ...after };
        const text = JSON.stringify(whole, undefined, layout);
        const expected = JSON.parse(text) as { items: unknown[] };
        const found = split(cut(Buffer.from(text), cuts));
        expect(found.items).toEqual(expected.items);
        expect(found.shell).toEqual({ ...expected, items: [] });
      }),
      { numRuns: 500 },
    );
  });

  test('one byte at a time, characters of two to four bytes included', () => {
    const list = {
      kind: 'PodList',
      items: [{ name: 'ä€𝄞"\\' }, 'x,]}', -1.5e3, true, null, [], {}],
      metadata: { resourceVersion: '7' },
    };
    const bytes = Buffer.from(JSON.stringify(list));
    const found = split([...bytes].map((byte) => Buffer.from([byte])));
    expect(found).toEqual({ items: list.items, shell: { ...list, items: [] } });
  });

  test('only the top-level array called items is split', () => {
    const list = { metadata: { items: [1] }, others: [{ items: [2] }], items: [{ items: [3] }], 'it\\ems': [4] };
    expect(split([Buffer.from(JSON.stringify(list))])).toEqual({
      items: [{ items: [3] }],
      shell: { ...list, items: [] },
    });
  });

  test('a key written with escapes is recognised', () => {
    expect(split([Buffer.from('{"\\u0069tems":[1,2]}')]).items).toEqual([1, 2]);
  });

  test.each([
    ['null', '{"items":null,"metadata":{}}', null],
    ['an object', '{"items":{"a":[1]}}', { a: [1] }],
    ['a string', '{"items":"[1,2]"}', '[1,2]'],
  ])('items that are %s stay in the rest', (_, text, items) => {
    const found = split([Buffer.from(text)]);
    expect(found.items).toEqual([]);
    expect(found.shell).toMatchObject({ items });
  });

  test.each(['', '{', '{"items":[1,2', '{"items":[{"a":1}', '{"items":[{"a":"', '{"items":[]', '"'])(
    'a body cut off after %j is an error',
    (text) => {
      expect(() => split([Buffer.from(text)])).toThrow(MalformedAnswerError);
    },
  );

  test('an item that is not JSON is an error, not a half item', () => {
    expect(() => split([Buffer.from('{"items":[{"a":tru}]}')])).toThrow(/not valid JSON/);
  });

  test('items are handed over before the body ends, and chunks may be reused by the caller', () => {
    const items: unknown[] = [];
    const splitter = createListSplitter((item) => items.push(item));
    const chunk = Buffer.from('{"items":[{"n":1},{"n"');
    splitter.write(chunk);
    expect(items).toEqual([{ n: 1 }]);
    chunk.fill(0x20);
    splitter.write(Buffer.from(':2}]}'));
    expect(items).toEqual([{ n: 1 }, { n: 2 }]);
    expect(splitter.end()).toEqual({ items: [] });
  });
});

test('an item without end is an error before it fills the memory', () => {
  const splitter = createListSplitter(() => {});
  splitter.write(Buffer.from('{"items":["'));
  const chunk = Buffer.alloc(1 << 20, 'x');
  const fill = (): void => {
    for (let index = 0; index < 1000; index++) splitter.write(chunk);
  };
  expect(fill).toThrow(/longer than 67108864 bytes/);
});

describe('readJsonLines', () => {
  test('for any values and any chunking, the lines come out as they went in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(unicodeJson), places, async (values, cuts) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
        const expected = values.map((value) => JSON.parse(JSON.stringify(value)));
        expect(await lines(cut(Buffer.from(text), cuts))).toEqual(expected);
      }),
    );
  });

  test('empty lines are skipped and the last line needs no newline', async () => {
    expect(await lines([Buffer.from('\n{"a":1}\n\n'), Buffer.from('2')])).toEqual([{ a: 1 }, 2]);
  });

  test('a line without end is an error before it fills the memory', async () => {
    const chunk = Buffer.alloc(1 << 20, 'x');
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer, void, undefined> {
      for (; given < 1000; given++) yield chunk;
    }
    const read = async (): Promise<void> => {
      for await (const line of readJsonLines(endless())) expect(line).toBeUndefined();
    };
    await expect(read()).rejects.toThrow(/longer than 67108864 bytes/);
    expect(given).toBe(64);
  });

  test('a line cut off by the end of the stream is an error', async () => {
    await expect(lines([Buffer.from('{"a":1}\n{"b"')])).rejects.toThrow(MalformedAnswerError);
  });
});
