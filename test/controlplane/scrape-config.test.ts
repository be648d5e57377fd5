import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { nodeObject } from '../../src/cluster/kubelet/node-object.ts';
import { scrapeConfig } from './scrape-config.ts';

const node = (name: string, kubeletPort?: number) =>
  nodeObject({ name, cpuMillis: 1000, memoryBytes: 1024, ...(kubeletPort === undefined ? {} : { kubeletPort }) }, 0);

test('names every node that has a port, in both jobs', () => {
  const config = parse(scrapeConfig([node('a', 40_001), node('b'), node('c', 40_003)], { intervalSeconds: 2 }));
  expect(config.global).toEqual({ scrape_interval: '2s', scrape_timeout: '2s' });
  expect(config.scrape_configs.map((job: { metrics_path: string }) => job.metrics_path)).toEqual([
    '/metrics/cadvisor',
    '/metrics/resource',
  ]);
  for (const job of config.scrape_configs)
    expect(job.static_configs).toEqual([
      { targets: ['127.0.0.1:40001'], labels: { node: 'a' } },
      { targets: ['127.0.0.1:40003'], labels: { node: 'c' } },
    ]);
});

test('is readable without any node', () => {
  expect(parse(scrapeConfig([])).scrape_configs).toHaveLength(2);
});
