import { expect, test } from 'vitest';
import { createSimulatedSubstrate } from './simulated-substrate.ts';
import type { LabPod } from './substrate.ts';

const LENGTH = 20_000;
const service = (rate: number, more: Partial<LabPod> = {}): LabPod => ({
  name: 'a',
  load: { kind: 'requests', ratePerSecond: () => rate, workMillis: 4, threads: 2 },
  request: 500,
  claim: 100,
  weight: 1,
  isBatch: false,
  ...more,
});
const latencies = async (pod: LabPod, limit?: number): Promise<(number | undefined)[]> => {
  const substrate = createSimulatedSubstrate({ cpus: 2, lengthMillis: LENGTH });
  await substrate.start(pod, { request: 500, limit }, 1);
  await substrate.runUntil(LENGTH);
  return (await substrate.replies('a')).map(({ latencyMillis }) => latencyMillis);
};

test('a service with room answers in about the time of its work, and loses nothing', async () => {
  const found = await latencies(service(50));
  expect(found.length).toBeGreaterThan(800);
  expect(found.every((latency) => latency !== undefined && latency < 100)).toBe(true);
});

test('one that gets half of what it needs loses about half, and answers the rest late', async () => {
  const found = await latencies(service(200), 400);
  const lost = found.filter((latency) => latency === undefined).length / found.length;
  expect(lost).toBeGreaterThan(0.35);
  expect(lost).toBeLessThan(0.65);
});

test('replies of the last two seconds are not told yet', async () => {
  const substrate = createSimulatedSubstrate({ cpus: 2, lengthMillis: LENGTH });
  await substrate.start(service(100), { request: 500, limit: undefined }, 1);
  await substrate.runUntil(5000);
  const sent = (await substrate.replies('a')).map(({ sentAt }) => sentAt);
  expect(Math.max(...sent)).toBeLessThanOrEqual(3000);
  expect(Math.max(...sent)).toBeGreaterThan(2800);
});

test('equal seeds meet equal requests', async () => {
  expect(await latencies(service(120))).toEqual(await latencies(service(120)));
});
