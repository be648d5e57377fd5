import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger, type Logger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aSeries, HOUR, usageSettings } from '../../model/testing/usage.ts';
import { MIB, POD, start, steady, web } from './testing/collected.ts';
import { aPodOf, aTarget } from './testing/collecting.ts';
import type { UsageAnswer, UsageRequest } from './usage-source.ts';

const { policy } = usageSettings();

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
              expect(collecting.collector.healthOf(policy)).toMatchObject({
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

  test.each([
    ['a source that is down is asked less and less often, a minute apart at most', 'Unreachable', 96, 125],
    ['one that refuses the question, five minutes apart at most', 'Rejected', 18, 32],
  ] as const)('%s', async (_, reason, least, most) => {
    const collecting = start({ targets: [aTarget(web)] });
    collecting.answer = () => ({ ok: false, problem: { reason, message: 'no' } });
    await collecting.clock.advance(2 * HOUR);
    expect(collecting.requests.length).toBeGreaterThan(least);
    expect(collecting.requests.length).toBeLessThan(most);
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

  test.each([
    ['out of reach', 'Unreachable', 75],
    ['too slow', 'TimedOut', 75],
    ['one that refuses all', 'Unauthorized', 75],
    ['one that refuses this question', 'Rejected', 375],
  ] as const)('a source that is back after a day is asked again soon: it was %s', async (_, reason, seconds) => {
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)] });
    collecting.answer = () => ({ ok: false, problem: { reason, message: 'no' } });
    await collecting.clock.advance(24 * HOUR);
    collecting.answer = steady;
    await collecting.clock.advance((seconds + 10) * 1000);
    expect(collecting.collector.stateOf(web).problem).toBeUndefined();
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

  test('a warning is told once while it lasts, whichever workload has it, and anew when it comes back', async () => {
    const warnings: string[] = [];
    const log: Logger = { debug() {}, info() {}, error() {}, child: () => log, warn: (_, text) => warnings.push(text) };
    const api = { ...web, name: 'api', uid: 'uid-api' };
    const targets = [aTarget(web), aTarget(api)];
    const collecting = start({ targets, pods: [aPodOf(POD), aPodOf('api-1')], log });
    const warned = new Set<string>();
    collecting.answer = ({ workload, to }) => ({
      ok: true,
      series: [aSeries(workload.name === 'web' ? POD : 'api-1', { cpu: [[to, 1]], memory: [[to, 1]] })],
      readTo: { cpu: to, memory: to },
      warnings: warned.has(workload.name) ? ['partial response'] : [],
    });
    const toldAfter = async (...names: readonly string[]): Promise<number> => {
      warned.clear();
      for (const name of names) warned.add(name);
      await collecting.clock.advance(HOUR);
      return warnings.length;
    };
    expect(await toldAfter('web')).toBe(1);
    expect(await toldAfter('web', 'api')).toBe(1);
    expect(await toldAfter('api')).toBe(1);
    expect(await toldAfter()).toBe(1);
    expect(await toldAfter('web')).toBe(2);
    expect(new Set(warnings)).toEqual(new Set(['A source of usage warns']));
  });

  test('a warning is told anew after the source was out of reach', async () => {
    const warnings: string[] = [];
    const log: Logger = { debug() {}, info() {}, error() {}, child: () => log, warn: (_, text) => warnings.push(text) };
    const collecting = start({ targets: [aTarget(web)], pods: [aPodOf(POD)], log });
    const warning = (request: UsageRequest): UsageAnswer => ({
      ok: true,
      series: [aSeries(POD, { cpu: [[request.to, 1]], memory: [[request.to, 1]] })],
      readTo: { cpu: request.to, memory: request.to },
      warnings: ['partial response'],
    });
    for (const answer of [warning, () => failing, warning]) {
      collecting.answer = answer;
      await collecting.clock.advance(HOUR);
    }
    expect(warnings).toEqual(['A source of usage warns', 'Usage is not collected', 'A source of usage warns']);
  });

  test('a policy whose provider cannot be used: the fallback is named, or the reason', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    const problem = { reason: 'Misconfigured', message: 'no such provider' } as const;
    const { chosen } = collecting;
    collecting.chosen = { ok: false, problem };
    await collecting.clock.advance(0);
    expect(collecting.collector.healthOf(policy)).toEqual({
      workloads: 1,
      failing: 1,
      problem,
      fallback: undefined,
    });
    expect(collecting.requests).toEqual([]);
    if (!chosen.ok) throw new Error('the scripted source can be used');
    collecting.chosen = { ...chosen, fallback: { provider: 'metrics-server', because: problem } };
    await collecting.clock.advance(HOUR);
    expect(collecting.collector.healthOf(policy)).toMatchObject({
      failing: 0,
      fallback: { provider: 'metrics-server', because: problem },
    });
    expect(collecting.collector.healthOf({ ...policy, name: 'other' })).toBeUndefined();
  });

  test('of two policies of one name, in both API groups, each has the workloads that are its own', async () => {
    const alias = { ...policy, group: 'optipod.optipod.io' } as const;
    const api = aSizedWorkload({ name: 'api', uid: 'uid-api' });
    const collecting = start({ targets: [aTarget(web), aTarget(api, { policy: alias })] });
    collecting.answer = (request) => (request.workload.name === 'api' ? failing : steady(request));
    await collecting.clock.advance(0);
    expect(collecting.collector.healthOf(policy)).toMatchObject({ workloads: 1, failing: 0 });
    expect(collecting.collector.healthOf(alias)).toMatchObject({ workloads: 1, failing: 1 });
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
