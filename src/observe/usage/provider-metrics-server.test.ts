import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kubeError } from '../../kube/testing/scripted-api.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { usageSettings } from '../../model/testing/usage.ts';
import { request, signal, sources } from './testing/provided.ts';

describe('provider metrics-server', () => {
  const items = (timestamp: unknown, containers: unknown) => [
    { metadata: { name: 'web-a', namespace: 'shop' }, timestamp, containers },
  ];
  const good = [{ name: 'app', usage: { cpu: '250000001n', memory: '102400Ki' } }];
  const stamp = '2026-03-02T12:00:00Z';

  function serving(list: () => unknown) {
    const calls: (string | undefined)[] = [];
    const clock = createVirtualClock(Date.parse(stamp));
    const api = {
      get: () => Promise.reject(new Error('unused')),
      list: async (_type: unknown, options: { namespace?: string } = {}) => {
        calls.push(options.namespace);
        return { items: await list(), resourceVersion: '1' } as never;
      },
      discover: async () => {
        await list();
        return [{ plural: 'pods', kind: 'PodMetrics', namespaced: true }];
      },
    };
    const chosen = sources({ api, clock }).sourceFor(usageSettings({ provider: 'metrics-server' }));
    if (!chosen.ok) throw new Error(chosen.problem.message);
    return { source: chosen.source, calls, clock };
  }

  test('Property 11: CPU rounded up to millicores, memory in bytes, at the time of the sample', async () => {
    const { source } = serving(() => items(stamp, good));
    const at = Date.parse(stamp);
    expect(await source.fetch(request, signal)).toEqual({
      ok: true,
      series: [{ pod: 'web-a', container: 'app', cpu: [{ at, value: 251 }], memory: [{ at, value: 104_857_600 }] }],
      readTo: {},
      warnings: [],
    });
  });

  test.each([
    ['a little', '2026-03-02T12:00:30Z', '2026-03-02T12:00:30Z'],
    ['a day', '2026-03-03T12:00:00Z', stamp],
    ['years', '2038-01-19T03:14:08Z', stamp],
  ])('a node whose clock is ahead by %s: what its pods use is used now', async (_name, told, taken) => {
    const { source } = serving(() => items(told, good));
    const at = Date.parse(taken);
    expect(await source.fetch(request, signal)).toMatchObject({ series: [{ cpu: [{ at }], memory: [{ at }] }] });
  });

  // Feature: k8s-workload-rightsizing, Property 32: for any workload processing, redundant API calls are avoided.
  test('Property 32: for any number of workloads of a namespace, it is listed once an interval', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4 }), async (workloads, rounds) => {
        const { source, calls, clock } = serving(() => items(stamp, good));
        for (let round = 0; round < rounds; round++) {
          await Promise.all(Array.from({ length: workloads }, () => source.fetch(request, signal)));
          await clock.advance(30_000);
        }
        expect(calls).toEqual(Array.from({ length: rounds }, () => 'shop'));
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['no timestamp', items(undefined, good), 1],
    ['a timestamp that is none', items('yesterday', good), 1],
    ['no containers', items(stamp, undefined), 1],
    ['a container without a name', items(stamp, [{ usage: { cpu: '1' } }, ...good]), 1],
    ['usage that is none', items(stamp, [{ name: 'x', usage: { cpu: 'much', memory: '-5' } }, ...good]), 1],
    ['an entry that is nothing', [{}, ...items(stamp, good)], 1],
  ])('%s: left out, with a word, and the rest is read', async (_name, list, unreadable) => {
    const { source } = serving(() => list);
    const answer = await source.fetch(request, signal);
    expect(answer).toMatchObject({ ok: true, warnings: [expect.stringMatching(new RegExp(`^${unreadable} entries`))] });
  });

  test('what no machine has is a fault of whoever measured, and no usage', async () => {
    const usage = { cpu: '18446744073709551615n', memory: '18446744073709551000' };
    const { source } = serving(() => items(stamp, [{ name: 'app', usage: { ...usage, cpu: '1' } }]));
    expect(await source.fetch(request, signal)).toMatchObject({ series: [{ cpu: [{ value: 1000 }], memory: [] }] });
    const { source: both } = serving(() => items(stamp, [{ name: 'app', usage }]));
    expect(await both.fetch(request, signal)).toMatchObject({
      series: [],
      warnings: [expect.stringMatching(/^1 entries/)],
    });
  });

  test('partial usage is usage', async () => {
    const { source } = serving(() => items(stamp, [{ name: 'app', usage: { memory: '5' } }]));
    expect(await source.fetch(request, signal)).toMatchObject({
      ok: true,
      series: [{ cpu: [], memory: [{ value: 5 }] }],
    });
  });

  test.each([
    [404, 'Misconfigured', 'install metrics-server'],
    [403, 'Unauthorized', 'get and list'],
    [503, 'Unreachable', 'APIService'],
  ])('HTTP %i is %s, and is asked again by whoever comes next', async (status, reason, text) => {
    let isBroken = true;
    const { source, calls } = serving(() => {
      if (isBroken) throw kubeError(status, 'x', 'the server says no');
      return items(stamp, good);
    });
    const problem = { reason, message: expect.stringContaining(text) };
    expect(await source.fetch(request, signal)).toMatchObject({ ok: false, problem });
    expect(await source.health(signal)).toMatchObject({ ok: false, problem });
    isBroken = false;
    expect(await source.fetch(request, signal)).toMatchObject({ ok: true });
    expect(await source.health(signal)).toEqual({ ok: true });
    expect(calls).toHaveLength(2);
  });
});
