import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactPercentile } from '../../lib/exact-percentile.ts';
import { aContainer, aContainerStatus } from '../../model/testing/sizing-records.ts';
import { aBook, aSeries, DAY, HOUR, usageSettings } from '../../model/testing/usage.ts';
import { MIB, POD, start, steady, web } from './testing/collected.ts';
import { aPodOf, aTarget, START } from './testing/collecting.ts';

describe('exact windows', () => {
  // Feature: k8s-workload-rightsizing, Property 13: for any collected usage metrics, P50, P90 and P99 are computed for CPU and memory.
  test('Property 13: for any samples of any replicas, the percentiles are those of all in the window', async () => {
    const values = fc.array(fc.nat(4000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(values, values, async (one, other) => {
        const collecting = start({ targets: [aTarget(web, { needsWindow: true })], pods: [aPodOf(POD)] });
        const points = (list: number[]) =>
          list.map((value, index): [number, number] => [START - DAY + (index + 1) * 60_000, value]);
        collecting.answer = ({ to }) => ({
          ok: true,
          series: [
            aSeries(POD, { cpu: points(one), memory: points(one) }),
            aSeries('web-gone', { cpu: points(other), memory: points(other) }),
          ],
          readTo: { cpu: to, memory: to },
          warnings: [],
        });
        await collecting.clock.advance(0);
        const window = collecting.collector.windowOf(web, 'app');
        const all = [...one, ...other].sort((a, b) => a - b);
        const [p50, p90, p95, p99] = [50, 90, 95, 99].map((percent) => exactPercentile(all, percent));
        const expected = { p50, p90, p95, p99, max: all.at(-1), samples: all.length };
        expect([window?.cpu, window?.memory]).toEqual([expected, expected]);
      }),
      { numRuns: 100 },
    );
  });

  test('since when each resource is known in them is told, and kept while that cannot be read', async () => {
    const collecting = start({ targets: [aTarget(web, { needsWindow: true })], pods: [aPodOf(POD)] });
    const since = { cpu: START - 3 * HOUR, memory: START - 2 * HOUR };
    const series = [
      aSeries('web-gone', { cpu: [[START - HOUR, 5]], memory: [[since.memory, 5]] }),
      aSeries(POD, { cpu: [[since.cpu, 5]], memory: [[START - HOUR, 5]] }),
    ];
    collecting.answer = ({ to }) => ({ ok: true, series, readTo: { cpu: to, memory: to }, warnings: [] });
    await collecting.clock.advance(0);
    expect(collecting.collector.windowOf(web, 'app')?.since).toEqual(since);
    collecting.answer = ({ to }) => ({ ok: true, series: [], readTo: { memory: to }, warnings: [] });
    await collecting.clock.advance(HOUR);
    expect(collecting.collector.windowOf(web, 'app')?.since).toEqual({ cpu: since.cpu });
  });

  test('they are read anew several times a window, not at every turn, and samples count once in the profile', async () => {
    const collecting = start({ targets: [aTarget(web, { needsWindow: true })], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    await collecting.clock.advance(2 * HOUR);
    const whole = collecting.requests.filter(({ from, to }) => to - from.cpu === DAY);
    expect(whole.length).toBeGreaterThan(5);
    expect(whole.length).toBeLessThan(10);
    const cpu = collecting.collector.profileOf(web, 'app')?.cpu;
    expect(cpu?.samples()).toBe(((cpu?.lastAt() ?? 0) - (cpu?.firstAt() ?? 0)) / 60_000 + 1);
  });

  test('a container that is never measured does not have the others read anew at every turn', async () => {
    const containers = [aContainer(), aContainer({ name: 'silent' })];
    const target = aTarget({ ...web, containers }, { needsWindow: true });
    const collecting = start({ targets: [target], pods: [aPodOf(POD, { containers })] });
    collecting.answer = steady;
    await collecting.clock.advance(2 * HOUR);
    const whole = collecting.requests.filter(({ from, to }) => to - from.cpu === DAY);
    expect(whole.length).toBeLessThan(10);
  });

  test('a resource that could not be read keeps what was known of it', async () => {
    const collecting = start({ targets: [aTarget(web, { needsWindow: true })], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    await collecting.clock.advance(0);
    collecting.answer = (request) => {
      const answer = steady(request);
      if (!answer.ok) return answer;
      const { cpu: _cpu, ...readTo } = answer.readTo;
      return { ...answer, series: answer.series.map((series) => ({ ...series, cpu: [] })), readTo };
    };
    await collecting.clock.advance(HOUR);
    const window = collecting.collector.windowOf(web, 'app');
    expect([window?.cpu?.p90, window?.memory?.p90]).toEqual([100, 50 * MIB]);
  });
});

describe('out-of-memory kills', () => {
  const container = aContainer({ size: { memoryRequest: 50 * MIB, memoryLimit: 100 * MIB } });
  const killed = (finishedAt: number | undefined, changes = {}) =>
    aPodOf(POD, {
      containers: [container],
      statuses: [
        aContainerStatus(container, {
          lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt },
          ...changes,
        }),
      ],
    });

  test('count once each, as long as the pod tells of them, from the limit in force', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [killed(START - 1000)] });
    await collecting.clock.advance(HOUR);
    expect(collecting.collector.profileOf(web, 'app')?.memory.oom()).toEqual({
      bytes: 200 * MIB,
      at: START - 1000,
      count: 1,
    });
    const larger = { actual: { memoryLimit: 300 * MIB } };
    for (const at of [START - 1000, START + HOUR + 5_000]) {
      collecting.pods = [killed(at, larger)];
      await collecting.clock.advance(5_000);
    }
    expect(collecting.collector.profileOf(web, 'app')?.memory.oom()).toMatchObject({ bytes: 500 * MIB, count: 2 });
  });

  test('are heard of within a tick, while the source is down', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = () => ({ ok: false, problem: { reason: 'Unreachable', message: 'down' } });
    await collecting.clock.advance(60_000);
    const heard: string[] = [];
    collecting.collector.onChange(({ name }) => heard.push(name));
    collecting.pods = [killed(START + 60_000)];
    await collecting.clock.advance(5_000);
    expect([heard, collecting.collector.profileOf(web, 'app')?.memory.oom()?.count]).toEqual([['web'], 1]);
  });

  test('count once across a restart of the operator', async () => {
    const first = start({ targets: [aTarget(web)], pods: [killed(START - 1000)] });
    await first.clock.advance(0);
    const book = aBook();
    book.restore(JSON.parse(JSON.stringify([...first.book.save()].flat())));
    const second = start({ targets: [aTarget(web)], pods: [killed(START - 1000)], book });
    await second.clock.advance(HOUR);
    expect(second.collector.profileOf(web, 'app')?.memory.oom()?.count).toBe(1);
  });

  test('of a node whose clock is ahead count as of when they were heard of, and their workload is forgotten in time', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [killed(Date.UTC(2038, 0, 19))] });
    await collecting.clock.advance(0);
    expect(collecting.collector.profileOf(web, 'app')?.memory.oom()?.at).toBe(START);
    [collecting.targets, collecting.pods] = [[], []];
    await collecting.clock.advance(60 * 24 * HOUR);
    expect(collecting.collector.profileOf(web, 'app')).toBeUndefined();
  });

  test('are not forgotten where the clock is a month ahead when the operator starts, but for what is gone', async () => {
    const book = aBook();
    const gone = { ...web, name: 'gone' };
    const kill = { key: 'k', limit: 256 * MIB, at: START - 30 * 24 * HOUR };
    for (const each of [web, gone]) book.noteKill(each, 'app', usageSettings(), kill);
    // Policies are not known yet.
    const collecting = start({ targets: [], pods: [], book });
    await collecting.clock.advance(60_000);
    collecting.targets = [aTarget(web)];
    await collecting.clock.advance(HOUR);
    expect([web, gone].map((each) => book.profileOf(each, 'app') !== undefined)).toEqual([true, false]);
  });

  test('without a time, the restart they caused tells them apart', async () => {
    const actual = { memoryLimit: 300 * MIB };
    const collecting = start({ targets: [aTarget(web)], pods: [killed(undefined, { restartCount: 1 })] });
    const count = () => collecting.collector.profileOf(web, 'app')?.memory.oom()?.count;
    await collecting.clock.advance(10_000);
    expect(count()).toBe(1);
    // Resized since, and the same kill is still told.
    collecting.pods = [killed(undefined, { restartCount: 1, actual })];
    await collecting.clock.advance(10_000);
    expect(count()).toBe(1);
    collecting.pods = [killed(undefined, { restartCount: 2, actual })];
    await collecting.clock.advance(10_000);
    expect(count()).toBe(2);
  });

  test.each([
    ['another reason', { lastTermination: { reason: 'Error', exitCode: 137, finishedAt: START } }],
    [
      'a run-once init container, which is not sized',
      { name: 'init', lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: START } },
    ],
  ])('%s is none', async (_name, changes) => {
    const collecting = start({ targets: [aTarget(web)], pods: [killed(START, changes)] });
    await collecting.clock.advance(10_000);
    expect(collecting.collector.profileOf(web, 'app')?.memory.oom()).toBeUndefined();
  });
});
