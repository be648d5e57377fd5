import { expect, test } from 'vitest';
import type { PodMetrics, ServedUsage } from '../cluster/apiserver/usage-metrics.ts';
import { lieAbout, type MetricsLie } from './lying-metrics.ts';

function aPod(name: string, namespace: string, cpu: string): PodMetrics {
  const containers = [{ name: 'app', usage: { cpu, memory: '1Mi' } }];
  return { name, namespace, timestamp: '2026-01-01T00:00:00Z', window: '15s', containers };
}

test('tells a part, what was, or no numbers, and then the truth again', () => {
  let cpu = '1m';
  let lie: MetricsLie | undefined;
  const truth: ServedUsage = {
    nodes: () => [],
    pods: () => [aPod('a', 'shop', cpu), aPod('b', 'shop', cpu), aPod('c', 'zoo', cpu)],
  };
  const told = lieAbout(truth, () => lie);
  const cpus = (namespace?: string) =>
    told.pods(namespace).map(({ name, containers }) => `${name} ${containers[0]?.usage.cpu}`);
  expect(cpus()).toEqual(['a 1m', 'b 1m', 'c 1m']);
  lie = 'old';
  expect(cpus('zoo')).toEqual(['c 1m']);
  cpu = '2m';
  expect(cpus('shop')).toEqual(['a 1m', 'b 1m']);
  lie = 'part';
  expect(cpus()).toEqual(['a 2m', 'c 2m']);
  lie = 'nonsense';
  expect(cpus()).toEqual(['a NaN', 'b -5m', 'c ']);
  lie = undefined;
  expect(cpus()).toEqual(['a 2m', 'b 2m', 'c 2m']);
});
