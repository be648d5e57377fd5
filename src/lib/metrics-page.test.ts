import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { metricTable } from './metrics.ts';
import { agentMetrics } from './metrics-agent.ts';
import { renderMetricsPage } from './metrics-page.ts';

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

describe('docs/metrics.md', () => {
  test('is what the table says; `npm run docs` writes it', () => {
    expect(page).toBe(renderMetricsPage());
  });

  test('lists exactly the metrics of the tables, each once', () => {
    const listed = [...page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \|/gm)].map((match) => match[1] ?? '');
    expect(listed.toSorted()).toEqual([...Object.keys(metricTable), ...Object.keys(agentMetrics)].toSorted());
  });
});
