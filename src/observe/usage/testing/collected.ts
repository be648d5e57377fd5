/** A collector that ends with its test, and a source that answers with a sample a minute. */
import { onTestFinished } from 'vitest';
import { aSizedWorkload } from '../../../model/testing/sizing-records.ts';
import { aSeries } from '../../../model/testing/usage.ts';
import type { UsageAnswer, UsageRequest } from '../usage-source.ts';
import { type Collecting, startCollecting } from './collecting.ts';

export const MIB = 1024 * 1024;
export const web = aSizedWorkload();
export const POD = 'web-7d4f9c5b8-x2k7p';

export function start(options: Parameters<typeof startCollecting>[0]): Collecting {
  const collecting = startCollecting(options);
  onTestFinished(async () => {
    const { controller, clock, done } = collecting;
    controller.abort();
    await clock.advance(0);
    await done;
  });
  return collecting;
}

/** A sample a minute after what was asked for. */
export function steady({ from, to, pods }: UsageRequest): UsageAnswer {
  const times = (after: number) => {
    const list: number[] = [];
    for (let at = Math.floor(after / 60_000) * 60_000 + 60_000; at <= to; at += 60_000) list.push(at);
    return list;
  };
  const [cpu, memory] = [times(from.cpu), times(from.memory)];
  const series = pods.map((pod) =>
    aSeries(pod, { cpu: cpu.map((at) => [at, 100]), memory: memory.map((at) => [at, 50 * MIB]) }),
  );
  const end = (list: readonly number[], key: 'cpu' | 'memory') => (list.length === 0 ? {} : { [key]: list.at(-1) });
  return { ok: true, series, readTo: { ...end(cpu, 'cpu'), ...end(memory, 'memory') }, warnings: [] };
}
