import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { exactPercentile } from '../../lib/exact-percentile.ts';
import { createLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { aContainer, aContainerStatus, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aBook, aSeries, DAY, HOUR } from '../../model/testing/usage.ts';
import { aPodOf, aTarget, type Collecting, START, startCollecting } from './testing/collecting.ts';
import type { UsageAnswer, UsageRequest } from './usage-source.ts';

const MIB = 1024 * 1024;
const web = aSizedWorkload();
const POD = 'web-7d4f9c5b8-x2k7p';
const started: Collecting[] = [];

function start(options: Parameters<typeof startCollecting>[0]): Collecting {
  const collecting = startCollecting(options);
  started.push(collecting);
  return collecting;
}

afterEach(async () => {
  for (const { controller, clock, done } of started.splice(0)) {
    controller.abort();
    await clock.advance(0);
    await done;
  }
});

/** A sample a minute after what was asked for. */
function steady({ from, to, pods }: UsageRequest): UsageAnswer {
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

describe('collecting', () => {
  // Feature: k8s-workload-rightsizing, Property 1: for any workload that is enabled, the system begins collecting CPU and memory usage.
  test('Property 1: for any workloads, each is asked for within a tick of becoming a target, and none other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.stringMatching(/^[a-z]{3,8}$/), { maxLength: 30 }),
        fc.nat(20_000),
        async (names, wait) => {
          const collecting = start({});
          await collecting.clock.advance(wait);
          expect(collecting.requests).toEqual([]);
          collecting.targets = names.map((name) => aTarget(aSizedWorkload({ name, uid: name })));
          await collecting.clock.advance(5_000);
          expect(collecting.requests.map(({ workload }) => workload.name).sort()).toEqual(names.toSorted());
          for (const { from, to, containers } of collecting.requests) {
            expect([to - from.cpu, to - from.memory, containers]).toEqual([DAY, DAY, ['app']]);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test('Property 12: first the rolling window, then only what is new', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    await collecting.clock.advance(HOUR);
    const [first, second] = collecting.requests;
    expect(first?.from.cpu).toBe(START - DAY);
    expect(second?.from.cpu).toBe(Math.floor(START / 60_000) * 60_000);
    // A sample a minute, none twice: a day and an hour of them.
    const cpu = collecting.collector.profileOf(web, 'app')?.cpu;
    const minutes = ((cpu?.lastAt() ?? 0) - (cpu?.firstAt() ?? 0)) / 60_000 + 1;
    expect(cpu?.samples()).toBe(minutes);
    expect(collecting.requests.length).toBeLessThanOrEqual(15);
    expect(collecting.collector.stateOf(web)).toMatchObject({ source: 'scripted', problem: undefined, missing: [] });
  });

  test('after a long outage, no more than the window is asked for', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    await collecting.clock.advance(60_000);
    collecting.targets = [];
    await collecting.clock.advance(3 * DAY);
    collecting.targets = [aTarget(web)];
    await collecting.clock.advance(5_000);
    const { from, to } = collecting.requests.at(-1) ?? { from: { cpu: 0 }, to: 0 };
    expect(to - from.cpu).toBe(DAY);
  });

  test('rightsizing bug 26: native sidecars are asked for, and containers that only running pods have', async () => {
    const sidecar = aContainer({ name: 'mesh', isSidecar: true });
    const old = aPodOf(POD, { containers: [aContainer(), aContainer({ name: 'old-helper' })] });
    const collecting = start({ targets: [aTarget({ ...web, containers: [aContainer(), sidecar] })], pods: [old] });
    await collecting.clock.advance(0);
    expect(collecting.requests[0]?.containers).toEqual(['app', 'mesh', 'old-helper']);
  });

  test('a pod that is known to be of another workload is left out; one that is gone is believed', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD), aPodOf('other')] });
    collecting.ownerOf = (pod) => (pod.name === 'other' ? aSizedWorkload({ name: 'api', uid: 'uid-api' }) : web);
    collecting.answer = ({ to }) => ({
      ok: true,
      series: ['other', POD, 'web-gone'].map((pod) => aSeries(pod, { cpu: [[to - 10 * HOUR, 100]] })),
      readTo: { cpu: to },
      warnings: [],
    });
    await collecting.clock.advance(0);
    expect(collecting.collector.profileOf(web, 'app')?.cpu.samples()).toBe(2);
  });

  test('CPU of the start is left out: by the status of a pod, by the beginning of its series where it is gone', async () => {
    const startedAt = START - HOUR;
    const container = aContainer();
    const pod = aPodOf(POD, { containers: [container], statuses: [aContainerStatus(container, { startedAt })] });
    const collecting = start({ targets: [aTarget(web)], pods: [pod] });
    collecting.answer = () => ({
      ok: true,
      series: [POD, 'web-gone'].map((name) =>
        aSeries(name, {
          cpu: [
            [startedAt + 60_000, 4000],
            [startedAt + 180_000, 100],
          ],
          memory: [[startedAt + 1000, MIB]],
        }),
      ),
      readTo: {},
      warnings: [],
    });
    await collecting.clock.advance(0);
    const cpu = collecting.collector.profileOf(web, 'app')?.cpu;
    expect([cpu?.samples(), cpu?.usual.percentile(1)]).toEqual([2, expect.closeTo(100, -1)]);
  });

  test('few turns at a time, each workload in its own', async () => {
    const targets = Array.from({ length: 50 }, (_, index) =>
      aTarget(aSizedWorkload({ name: `w${index}`, uid: `${index}` })),
    );
    const collecting = start({ targets });
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    collecting.answer = async () => {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => waiting.push(resolve));
      open--;
      return { ok: true, series: [], readTo: {}, warnings: [] };
    };
    for (let round = 0; round < 60; round++) {
      await collecting.clock.advance(0);
      for (const resolve of waiting.splice(0)) resolve();
    }
    expect([most, collecting.requests.length]).toEqual([8, 50]);
  });

  test('listeners hear of what is new, once', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    const heard: string[] = [];
    const end = collecting.collector.onChange(({ name }) => heard.push(name));
    await collecting.clock.advance(0);
    expect(heard).toEqual(['web']);
    end();
    await collecting.clock.advance(HOUR);
    expect(heard).toEqual(['web']);
  });
});

describe('failures', () => {
  const failing: UsageAnswer = { ok: false, problem: { reason: 'Unreachable', message: 'nobody there' } };

  // Feature: k8s-workload-rightsizing, Property 7: for any workload where metrics cannot be fetched, nothing is learned and the reason is exposed.
  test('Property 7: for any order of failures and answers, a failure leaves all that is known, and says why', async () => {
    const reasons = fc.constantFrom(
      'Unreachable',
      'TimedOut',
      'Unauthorized',
      'Rejected',
      'Malformed',
      'TooLarge',
      'Misconfigured',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(reasons, { nil: undefined }), { minLength: 1, maxLength: 12 }),
        async (list) => {
          const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
          let turn = 0;
          collecting.answer = (request) => {
            const reason = list[turn++ % list.length];
            return reason === undefined
              ? steady(request)
              : { ok: false, problem: { reason, message: `because of ${reason}` } };
          };
          for (let round = 0; round < list.length; round++) {
            const before = collecting.collector.profileOf(web, 'app')?.save();
            const turns = turn;
            while (turn === turns) await collecting.clock.advance(5_000);
            const { problem } = collecting.collector.stateOf(web);
            const reason = list[(turn - 1) % list.length];
            expect(problem?.reason).toBe(reason);
            if (turn === turns + 1 && reason !== undefined) {
              expect(collecting.collector.profileOf(web, 'app')?.save()).toBe(before);
              expect(collecting.collector.healthOf({ namespace: 'shop', name: 'small' })).toMatchObject({
                workloads: 1,
                failing: 1,
                problem: { reason },
              });
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test('rightsizing bug 1: hours without an answer keep the profile, and what was missed is caught up', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = steady;
    await collecting.clock.advance(60_000);
    const samples = collecting.collector.profileOf(web, 'app')?.cpu.samples() ?? 0;
    collecting.answer = () => failing;
    await collecting.clock.advance(5 * HOUR);
    expect(collecting.collector.profileOf(web, 'app')?.cpu.samples()).toBe(samples);
    collecting.answer = steady;
    await collecting.clock.advance(HOUR);
    const cpu = collecting.collector.profileOf(web, 'app')?.cpu;
    expect(cpu?.samples()).toBe(((cpu?.lastAt() ?? 0) - (cpu?.firstAt() ?? 0)) / 60_000 + 1);
  });

  test('a source that is down is asked less and less often, five minutes apart at most', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    collecting.answer = () => failing;
    await collecting.clock.advance(2 * HOUR);
    expect(collecting.requests.length).toBeGreaterThan(18);
    expect(collecting.requests.length).toBeLessThan(32);
    expect(collecting.fetches.every(({ ok }) => !ok)).toBe(true);
  });

  test('a source that breaks its promise and throws is a failure like any other', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    collecting.answer = () => Promise.reject(new TypeError('x is undefined'));
    await collecting.clock.advance(0);
    expect(collecting.collector.stateOf(web).problem?.message).toContain('x is undefined');
    collecting.answer = () => ({ ok: true, series: [], readTo: {}, warnings: [] });
    await collecting.clock.advance(60_000);
    expect(collecting.collector.stateOf(web).problem).toBeUndefined();
  });

  test('pods run, and the source knows nothing of them: that is a problem; without pods it is none', async () => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    await collecting.clock.advance(0);
    expect(collecting.collector.stateOf(web)).toMatchObject({
      problem: { reason: 'NoData' },
      missing: [
        { container: 'app', resource: 'cpu' },
        { container: 'app', resource: 'memory' },
      ],
    });
    collecting.pods = [];
    await collecting.clock.advance(HOUR);
    expect(collecting.collector.stateOf(web)).toMatchObject({ problem: undefined, missing: [] });
  });

  test('rightsizing bug 32: what is missing is named, container and resource', async () => {
    const containers = [aContainer(), aContainer({ name: 'proxy' })];
    const collecting = start({ targets: [aTarget({ ...web, containers })], pods: [aPodOf(POD, { containers })] });
    collecting.answer = ({ to }) => ({
      ok: true,
      series: [aSeries(POD, { cpu: [[to, 1]], memory: [[to, 1]] }), aSeries(POD, { memory: [[to, 1]] }, 'proxy')],
      readTo: { cpu: to, memory: to },
      warnings: [],
    });
    await collecting.clock.advance(0);
    expect(collecting.collector.stateOf(web)).toMatchObject({
      problem: undefined,
      missing: [{ container: 'proxy', resource: 'cpu' }],
    });
  });

  test('rightsizing bug 2: CPU is known and memory is not: no peak at all, and the gap is named', async () => {
    const collecting = start({ targets: [aTarget(web, { needsWindow: true })], pods: [aPodOf(POD)] });
    collecting.answer = ({ to }) => ({
      ok: true,
      series: [aSeries(POD, { cpu: [[to, 100]] })],
      readTo: { cpu: to },
      warnings: [],
    });
    await collecting.clock.advance(HOUR);
    const profile = collecting.collector.profileOf(web, 'app');
    expect([profile?.memory.peaks(), profile?.memory.lastAt()]).toEqual([[], undefined]);
    expect(collecting.collector.windowOf(web, 'app')?.memory).toBeUndefined();
    expect(collecting.collector.stateOf(web).missing).toEqual([{ container: 'app', resource: 'memory' }]);
  });

  test('the log tells of a failure once, and of its end', async () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'info',
      format: 'text',
      clock: createVirtualClock(0),
      write: (line) => lines.push(line),
    });
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)], log });
    collecting.answer = () => failing;
    await collecting.clock.advance(HOUR);
    collecting.answer = (request) => ({ ...steady(request), warnings: ['partial response'] }) as UsageAnswer;
    await collecting.clock.advance(HOUR);
    expect(lines.map((line) => line.replace(/^\S+ /, '').trim())).toEqual([
      expect.stringMatching(/^WARN .*nobody there/),
      expect.stringMatching(/^INFO .*collected again/),
      expect.stringMatching(/^WARN .*partial response/),
    ]);
  });

  test('a policy whose provider cannot be used: the fallback is named, or the reason', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    const problem = { reason: 'Misconfigured', message: 'no such provider' } as const;
    const { chosen } = collecting;
    collecting.chosen = { ok: false, problem };
    await collecting.clock.advance(0);
    expect(collecting.collector.healthOf({ namespace: 'shop', name: 'small' })).toEqual({
      workloads: 1,
      failing: 1,
      problem,
      fallback: undefined,
    });
    expect(collecting.requests).toEqual([]);
    if (!chosen.ok) throw new Error('the scripted source can be used');
    collecting.chosen = { ...chosen, fallback: { provider: 'metrics-server', because: problem } };
    await collecting.clock.advance(HOUR);
    expect(collecting.collector.healthOf({ namespace: 'shop', name: 'small' })).toMatchObject({
      failing: 0,
      fallback: { provider: 'metrics-server', because: problem },
    });
    expect(collecting.collector.healthOf({ namespace: 'shop', name: 'other' })).toBeUndefined();
  });
});

describe('sources that only know the present', () => {
  test('a sample that was told of twice counts once, whatever other pods do', async () => {
    const collecting = start({ kind: 'instant', targets: [aTarget(web)], pods: [aPodOf('web-a'), aPodOf('web-b')] });
    // The kubelet of `a` is measured every minute, that of `b` every 15 s, and both are asked about every 30 s.
    collecting.answer = ({ to, pods }) => ({
      ok: true,
      series: pods.map((pod) => {
        const every = pod === 'web-a' ? 60_000 : 15_000;
        const at = Math.floor(to / every) * every;
        return aSeries(pod, { cpu: [[at, 100]], memory: [[at, MIB]] });
      }),
      readTo: {},
      warnings: [],
    });
    await collecting.clock.advance(10 * 60_000);
    const asked = collecting.requests.length;
    expect(asked).toBeGreaterThanOrEqual(20);
    const samples = collecting.collector.profileOf(web, 'app')?.cpu.samples() ?? 0;
    // All that `b` was asked for, and the ten or eleven minutes of `a`.
    expect(samples).toBeGreaterThanOrEqual(asked + 10);
    expect(samples).toBeLessThanOrEqual(asked + 11);
  });

  test('the window of the Percentile strategy comes of a bounded ring', async () => {
    const collecting = start({
      kind: 'instant',
      targets: [aTarget(web, { needsWindow: true, rollingWindowMillis: HOUR })],
      pods: [aPodOf(POD)],
    });
    collecting.answer = ({ to }) => ({
      ok: true,
      series: [aSeries(POD, { cpu: [[to, 100]], memory: [[to, MIB]] })],
      readTo: {},
      warnings: [],
    });
    await collecting.clock.advance(2 * HOUR);
    const window = collecting.collector.windowOf(web, 'app');
    expect([window?.cpu?.p90, window?.memory?.p50, window?.cpu?.samples]).toEqual([100, MIB, expect.any(Number)]);
    expect(window?.cpu?.samples).toBeLessThanOrEqual(64);
  });
});

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
    collecting.pods = [killed(START + HOUR, { actual: { memoryLimit: 300 * MIB } })];
    await collecting.clock.advance(5_000);
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

describe('throttling of containers', () => {
  const asked = { workload: web, pods: [POD], containers: ['app'], at: START, windowMillis: 300_000 };

  test('is asked of the source of the workload', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    await collecting.clock.advance(5_000);
    const shares = new Map([['app', 0.3]]);
    if (!collecting.chosen.ok) throw new Error('no source');
    const { source } = collecting.chosen;
    collecting.chosen = {
      ...collecting.chosen,
      source: { ...source, throttling: async ({ at }) => ({ ok: true, shares: at === START ? shares : new Map() }) },
    };
    expect(await collecting.collector.throttlingOf(asked, collecting.controller.signal)).toEqual({ ok: true, shares });
  });

  test('is not known of a workload without a source, nor by one that does not count it', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    const ask = () => collecting.collector.throttlingOf(asked, collecting.controller.signal);
    expect(await ask()).toMatchObject({ ok: false, problem: { reason: 'NoData' } });
    await collecting.clock.advance(5_000);
    expect(await ask()).toMatchObject({
      ok: false,
      problem: { message: 'scripted does not count throttled periods' },
    });
    collecting.chosen = { ok: false, problem: { reason: 'Misconfigured', message: 'no such provider' } };
    expect(await ask()).toMatchObject({ ok: false, problem: { reason: 'Misconfigured' } });
  });
});

test('optipod defect B7: hundreds of workloads are known within a minute, and one that does not answer holds up none', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `w${index}`);
  const workloads = names.map((name) => aSizedWorkload({ name, uid: name }));
  const collecting = start({
    targets: workloads.map((workload) => aTarget(workload)),
    pods: names.map((name) => aPodOf(`${name}-7d4f9c5b8-x2k7p`)),
  });
  collecting.ownerOf = (pod) => workloads.find(({ name }) => pod.name.startsWith(`${name}-`));
  collecting.answer = (request) =>
    request.workload.name === 'w0'
      ? new Promise((resolve) => {
          collecting.controller.signal.addEventListener('abort', () => resolve(steady(request)), { once: true });
        })
      : new Promise((resolve) => collecting.clock.setTimer(1_000, () => resolve(steady(request))));
  await collecting.clock.advance(60_000);
  const known = workloads.filter((workload) => collecting.collector.profileOf(workload, 'app') !== undefined);
  expect(known).toHaveLength(299);
});
