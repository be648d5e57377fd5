import { describe, expect, test } from 'vitest';
import { figureMeanings, isFigure } from '../../simulator/figures.ts';
import { invariants } from '../../simulator/invariant-names.ts';
import type { SimulationReport } from '../../simulator/report.ts';
import { type SeriesName, type SimulationSeries, seriesNames } from '../../simulator/series.ts';
import { simulationPage } from './simulation-page.ts';

const same = <K extends string>(keys: readonly K[], value: number) =>
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, number>;
/** @param of the value of the span with this index, in every series. */
const series = (length: number, of = (index: number): number => index): SimulationSeries => {
  const columns = Object.fromEntries(
    seriesNames.map((name) => [name, Array.from({ length }, (_, index) => of(index))]),
  ) as Record<SeriesName, number[]>;
  return { endMillis: Array.from({ length }, (_, index) => (index + 1) * 60_000), ...columns };
};
const report = (fields: Partial<SimulationReport> = {}): SimulationReport => ({
  scenario: 'shop',
  description: 'A shop.',
  seed: 7,
  figures: same(Object.keys(figureMeanings).filter(isFigure), 3),
  pools: [{ name: 'spot', class: 'spot', instanceType: 'm6i.xlarge', nodeHours: 2, cost: 1, costOnDemand: 2 }],
  reasons: {},
  asserts: [
    {
      text: 'evictions <= 3',
      actual: 3,
      limit: 3,
      ok: true,
      figure: 'evictions',
    } as SimulationReport['asserts'][number],
  ],
  violations: [],
  checks: same(['floor'], 5) as SimulationReport['checks'],
  problems: [],
  series: series(3),
  ...fields,
});
const page = (...reports: SimulationReport[]): string =>
  simulationPage(reports.map((each) => ({ source: 'my shop.yaml', report: each })));
const count = (html: string, pattern: RegExp): number => html.match(pattern)?.length ?? 0;

describe('the page of a simulation', () => {
  test('has every part, in order', () => {
    const html = page(report());
    expect([...html.matchAll(/<h([123])>([^<]*)/g)].map(([, level, text]) => `${level} ${text?.trim()}`)).toEqual([
      '1 Simulation: shop',
      '2 shop',
      ...['Pods', 'Unavailable replicas', 'Cost per hour', 'CPU', 'Disruptions'].flatMap((plot) => [
        `2 ${plot}`,
        `3 ${plot} of shop`,
      ]),
      '2 Assertions',
      '3 shop',
      '2 Pools',
      '3 shop',
      '2 All figures',
      '2 Run it again',
      '3 shop',
    ]);
    expect(html).toContain('stowage simulate &#39;my shop.yaml&#39; --seed 7<');
    expect(count(html, /<svg /g)).toBe(5);
    // Three rows of each plot's figures.
    expect(count(html, /<th scope="row" class="number">0:0[123]</g)).toBe(15);
    expect(html).toContain('<span class="badge good">passed</span>');
  });

  test('needs no script and nothing from elsewhere, and every element is closed', () => {
    const html = page(report(), report({ scenario: 'other' }));
    expect(html).not.toMatch(/<script|<link|<img|<iframe|javascript:|https?:|url\(|@import|\son\w+=|\sstyle=/i);
    expect(html).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
    const open: string[] = [];
    for (const [, slash, name = '', end] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*?(\/?)>/g)) {
      if (name === 'meta' || end === '/') continue;
      if (slash === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('escapes whatever people named', () => {
    const evil = `<img src=x onerror="alert('1')">&`;
    const html = page(
      report({
        scenario: evil,
        description: evil,
        problems: [evil],
        pools: [{ name: evil, class: 'spot', instanceType: evil, nodeHours: 1, cost: 1, costOnDemand: 1 }],
        violations: [{ invariant: 'floor', at: 0, detail: evil }],
      }),
    );
    expect(html).not.toContain('<img');
    expect(count(html, /&lt;img src=x onerror=&quot;alert\(&#39;1&#39;\)&quot;&gt;&amp;/g)).toBeGreaterThan(8);
  });

  test('shows what failed', () => {
    const [first] = report().asserts;
    const failed = first === undefined ? [] : [{ ...first, actual: 9, ok: false }];
    const html = page(report({ asserts: failed, violations: [{ invariant: 'floor', at: 0, detail: 'two of three' }] }));
    expect(html).toContain('<span class="badge bad">failed</span>');
    expect(html).toContain('<span class="badge bad">fails</span>');
    expect(html).toContain(invariants.floor.slice(0, 10));
    expect(html).toContain('1970-01-01T00:00:00.000Z</td><td>two of three');
    // Three by the figures.
    expect(html).toContain('<p>And 2 more.</p>');
  });

  test('has two runs side by side, named apart, with their difference', () => {
    const html = page(report(), report({ figures: { ...report().figures, cost: 5 } }));
    expect(html).toContain('<h1>Simulation: shop A and shop B</h1>');
    expect(count(html, /<svg /g)).toBe(10);
    expect(count(html, /<div class="runs two">/g)).toBe(9);
    expect(html).toMatch(
      /<th scope="row">cost<\/th><td class="number">3<\/td><td class="number">5<\/td><td class="number">\+2</,
    );
  });

  test('of a run in which nothing happened, or that has no CPU in use, is as whole', () => {
    const { cpuUsed: _, ...none } = series(2, () => 0);
    const html = page(report({ series: none, asserts: [] }));
    expect(html).toContain('Nothing was moved, resized, lost or killed.');
    expect(html).toContain('The scenario asserts nothing.');
    expect(html).not.toMatch(/NaN|undefined|Infinity|<\/span>used</);
  });
});
