import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { seriesText } from './series-text.ts';

const textOf = (series: Iterable<readonly [Record<string, string>, number]>): string =>
  [...seriesText('m', series)].join('');

test('a line a series, labels in their order', () => {
  expect(
    textOf([
      [{ namespace: 'shop', pod: 'web-1' }, 300],
      [{ namespace: 'shop', pod: 'web-2' }, 0.5],
    ]),
  ).toBe('\nm{namespace="shop",pod="web-1"} 300\nm{namespace="shop",pod="web-2"} 0.5');
});

test.each([
  ['no labels', {}, 1, '\nm 1'],
  ['no number', { a: 'b' }, Number.NaN, ''],
  ['beyond all', { a: 'b' }, Number.POSITIVE_INFINITY, '\nm{a="b"} +Inf'],
  ['below all', { a: 'b' }, Number.NEGATIVE_INFINITY, '\nm{a="b"} -Inf'],
])('%s', (_, labels, value, text) => {
  expect(textOf([[labels, value]])).toBe(text);
});

test('is what the metrics library writes, whatever the labels hold', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), fc.double({ noNaN: true }), async (namespace, pod, value) => {
      const registry = new Registry();
      const gauge = new Gauge({ name: 'm', help: 'h', labelNames: ['namespace', 'pod'], registers: [registry] });
      gauge.set({ namespace, pod }, value);
      expect(`# HELP m h\n# TYPE m gauge${textOf([[{ namespace, pod }, value]])}\n`).toBe(await registry.metrics());
    }),
  );
});
