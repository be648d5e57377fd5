import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDeferred } from '../../lib/deferred.ts';
import { aContainer, aContainerStatus, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aSeries, DAY, HOUR, usageSettings } from '../../model/testing/usage.ts';
import { MIB, POD, start, steady, web } from './testing/collected.ts';
import { aPodOf, aTarget, START } from './testing/collecting.ts';
import type { UsageAnswer } from './usage-source.ts';

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

  test('a server of a tenant that never answers keeps the others waiting for no turn', async () => {
    const policyOf = (namespace: string) => ({ ...usageSettings().policy, namespace });
    const tenants = Array.from({ length: 40 }, (_, index) =>
      aTarget(aSizedWorkload({ namespace: 'tenant', name: `t${index}`, uid: `t${index}` }), {
        policy: policyOf('tenant'),
        prometheus: { url: 'http://slow.tenant:9090' },
      }),
    );
    const others = Array.from({ length: 40 }, (_, index) =>
      aTarget(aSizedWorkload({ name: `o${index}`, uid: `o${index}` }), { policy: policyOf('shop') }),
    );
    const collecting = start({ targets: [...tenants, ...others] });
    const hanging = createDeferred<UsageAnswer>();
    collecting.answer = (request) => (request.workload.namespace === 'tenant' ? hanging.promise : steady(request));
    await collecting.clock.advance(0);
    const asked = (): readonly string[] => collecting.requests.map(({ workload }) => workload.namespace);
    const askedOf = (wanted: string): number => asked().filter((namespace) => namespace === wanted).length;
    expect(askedOf('shop')).toBe(40);
    expect(
      asked()
        .slice(0, 42)
        .filter((namespace) => namespace === 'tenant'),
    ).toHaveLength(2);
    // What is left over is the tenant's, but for what the others may need at any time.
    expect(askedOf('tenant')).toBe(6);
    await collecting.clock.advance(HOUR);
    expect(askedOf('tenant')).toBe(6);
    expect(askedOf('shop')).toBeGreaterThan(80);
    hanging.resolve({ ok: true, series: [], readTo: {}, warnings: [] });
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

describe('throttling of containers', () => {
  const asked = { workload: web, pods: [POD], containers: ['app'], agoMillis: 7_000, windowMillis: 300_000 };

  test('is asked of the source of the workload', async () => {
    const collecting = start({ targets: [aTarget(web)] });
    await collecting.clock.advance(5_000);
    const shares = new Map([['app', 0.3]]);
    if (!collecting.chosen.ok) throw new Error('no source');
    const { source } = collecting.chosen;
    collecting.chosen = {
      ...collecting.chosen,
      source: {
        ...source,
        throttling: async ({ agoMillis }) => ({ ok: true, shares: agoMillis === 7_000 ? shares : new Map() }),
      },
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
