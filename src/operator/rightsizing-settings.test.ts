import { expect, test } from 'vitest';
import { configOf } from '../config/testing/load-text.ts';
import { rightsizingSettingsOf } from './rightsizing-settings.ts';

test.each([
  ['10s', '10s', 60_000],
  ['15s', '15s', 60_000],
  ['1m', '15s', 240_000],
  ['15s', '2m', 480_000],
])(
  'with scrapes each %s and metrics asked for each %s, no sample for %d ms is no trouble',
  (scrape, sample, expected) => {
    const text = `rightsizing:\n  sampleInterval: ${sample}\n  prometheus:\n    scrapeInterval: ${scrape}`;
    expect(rightsizingSettingsOf(configOf(text)).noDataMillis).toBe(expected);
  },
);
