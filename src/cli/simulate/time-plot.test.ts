import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { highestOf, lanePlot, linePlot, niceStep, type PlotLine, timeText, timeTicks } from './time-plot.ts';

const HOUR = 3_600_000;
const area = (values: readonly number[], look = 'spot'): PlotLine => ({ label: look, look, values, shape: 'area' });
const line = (values: readonly number[]): PlotLine => ({ ...area(values, 'ink'), shape: 'line' });
const frame = {
  id: 'p',
  title: 'A <b> & "c"',
  description: '1 < 2',
  endMillis: [HOUR, 2 * HOUR],
  untilMillis: 2 * HOUR,
};

describe('a plot over time', () => {
  test('has a title and a description, escaped', () => {
    for (const svg of [linePlot(frame, [area([1, 2])], 2, String), lanePlot(frame, [])]) {
      expect(svg).toContain('role="img" aria-labelledby="p-title p-desc"');
      expect(svg).toContain('<title id="p-title">A &lt;b&gt; &amp; &quot;c&quot;</title>');
      expect(svg).toContain('<desc id="p-desc">1 &lt; 2</desc>');
    }
  });

  test('areas lie on each other, lines on all of them', () => {
    const lines = [area([1, 2]), line([9, 1]), area([3, 1], 'demand')];
    expect(highestOf(lines)).toBe(9);
    expect(highestOf([area([1, 2]), area([3, 1])])).toBe(4);
    expect(highestOf([])).toBe(0);
    const looks = [...linePlot(frame, lines, 9, String).matchAll(/<path class="(\w+ \w+)"/g)].map(([, look]) => look);
    expect(looks).toEqual(['area spot', 'area demand', 'line ink']);
  });

  test('marks are where something happened, and say what', () => {
    const svg = lanePlot(frame, [{ label: 'evictions', look: 'demand', counts: [0, 3] }]);
    expect(svg.match(/<rect /g)).toHaveLength(1);
    expect(svg).toContain('<title>evictions: 3, 1:00 to 2:00</title>');
  });

  test('for any values, every coordinate is a finite number within the picture', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(values, values, (below, above) => {
        const lines = [area(below), area(above), line(above)];
        const svg = linePlot(frame, lines, highestOf(lines), String);
        expect(svg).not.toMatch(/NaN|Infinity/);
        for (const [, x, y] of svg.matchAll(/[ML](\S+) ([^ "]+)/g)) {
          expect(Number(x)).toBeGreaterThanOrEqual(116);
          expect(Number(x)).toBeLessThanOrEqual(846);
          expect(Number(y)).toBeGreaterThanOrEqual(9.9);
          expect(Number(y)).toBeLessThanOrEqual(180);
        }
      }),
    );
  });

  test.each([
    [0, 1],
    [0.3, 0.5],
    [1, 1],
    [21, 50],
    [60, 100],
  ])('ticks at least %d apart are %d apart', (least, step) => {
    expect(niceStep(least)).toBeCloseTo(step, 9);
  });

  test('for any length there are a few ticks of time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 400 * 24 * HOUR }), (until) => {
        const ticks = timeTicks(until);
        expect(ticks.length).toBeLessThanOrEqual(14);
        expect([ticks[0], (ticks.at(-1) ?? 0) <= until]).toEqual([0, true]);
      }),
    );
  });

  test.each([
    [0, '0:00'],
    [5 * 60_000, '0:05'],
    [5 * 60_000 + 30_000, '0:05:30'],
    [14 * HOUR, '14:00'],
    [54 * HOUR, '2d 06:00'],
  ])('%d ms is %s', (millis, text) => {
    expect(timeText(millis)).toBe(text);
  });
});
