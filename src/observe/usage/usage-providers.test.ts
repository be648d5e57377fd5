import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { createMemoryApi } from '../../kube/testing/memory-api.ts';
import { kubeError } from '../../kube/testing/scripted-api.ts';
import { createSystemClock } from '../../lib/clock.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { usageSettings } from '../../model/testing/usage.ts';
import { isCpu, matrix, serve, tuning } from './testing/http-source.ts';
import { createUsageSources, type UsageProvider, type UsageSourcesOptions } from './usage-providers.ts';
import type { UsageRequest, UsageSource } from './usage-source.ts';

const { signal } = new AbortController();
const request: UsageRequest = {
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  pods: ['web-a'],
  containers: ['app'],
  from: { cpu: 0, memory: 0 },
  to: 600_000,
};

function sources(
  changes: Partial<UsageSourcesOptions> = {},
  prometheus: Partial<UsageSourcesOptions['prometheus']> = {},
) {
  return createUsageSources({
    api: createMemoryApi().api,
    clock: createSystemClock(),
    prometheus: { ...tuning, url: undefined, allowedUrls: [], ...prometheus },
    metricsServerIntervalMillis: 30_000,
    custom: {},
    fallbackProvider: undefined,
    maxRequests: 4,
    maxBytes: 1 << 20,
    ...changes,
  });
}

const answering = (name: string): UsageSource => ({
  name,
  kind: 'instant',
  fetch: () => Promise.resolve({ ok: true, series: [], readTo: {}, warnings: [] }),
  health: () => Promise.resolve({ ok: true }),
});

describe('choice of a provider', () => {
  // Feature: k8s-workload-rightsizing, Property 30: for any new metrics provider, configuration selects it, and a failing initialization has a clear error and a safe fallback.
  test('Property 30, optipod defect B9: for any name, a provider of the table is chosen by it, without a change anywhere else', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        const provider: UsageProvider = { key: () => '', create: () => ({ ok: true, source: answering(name) }) };
        const chosen = sources({ providers: { [name]: provider } }).sourceFor(usageSettings({ provider: name }));
        expect(chosen.ok && chosen.source.name).toBe(name);
      }),
      { numRuns: 150 },
    );
  });

  test('Property 30: for any unknown or failing provider, the reason is clear; the fallback is used where there is one', () => {
    const broken = fc.constantFrom<UsageProvider['create']>(
      () => ({ ok: false, problem: { reason: 'Misconfigured', message: 'not today' } }),
      () => {
        throw new Error('not today');
      },
    );
    fc.assert(
      fc.property(fc.option(broken, { nil: undefined }), fc.boolean(), (create, hasFallback) => {
        const providers = create === undefined ? {} : { mine: { key: () => '', create } };
        const options = { providers, fallbackProvider: hasFallback ? 'metrics-server' : undefined };
        const chosen = sources(options).sourceFor(usageSettings({ provider: 'mine' }));
        const text =
          create === undefined ? '"mine" is not known; known are prometheus, metrics-server, custom' : 'not today';
        const message = expect.stringContaining(text);
        if (hasFallback) {
          expect(chosen).toMatchObject({
            ok: true,
            source: { name: 'metrics-server' },
            fallback: { provider: 'metrics-server', because: { reason: 'Misconfigured', message } },
          });
        } else {
          expect(chosen).toMatchObject({ ok: false, problem: { reason: 'Misconfigured', message } });
        }
      }),
      { numRuns: 100 },
    );
  });

  test('optipod: prometheus needs an address; where both are bad, the reason is that of the policy', () => {
    const both = sources({ fallbackProvider: 'prometheus' }).sourceFor(
      usageSettings({ provider: 'nonexistent-provider' }),
    );
    expect(both).toMatchObject({ ok: false, problem: { message: expect.stringContaining('nonexistent-provider') } });
    const alone = sources().sourceFor(usageSettings());
    expect(alone).toMatchObject({ ok: false, problem: { message: expect.stringContaining('prometheusURL') } });
  });

  test('a name that every object has is no provider', () => {
    expect(sources().sourceFor(usageSettings({ provider: 'constructor' })).ok).toBe(false);
  });

  test('policies that ask alike share a source; another address, label or Secret makes another', () => {
    const own = sources({}, { url: 'http://prometheus:9090', allowedUrls: ['http://other:9090'] });
    const of = (settings: Parameters<typeof usageSettings>[0]) => {
      const chosen = own.sourceFor(usageSettings(settings));
      return chosen.ok ? chosen.source : chosen.problem;
    };
    const base = of({});
    expect(of({ policy: { namespace: 'other', name: 'x' } })).toBe(base);
    const token = { bearerTokenSecretRef: { name: 'token', key: 'token' } };
    const others = [
      of({ prometheus: { url: 'http://other:9090' } }),
      of({ prometheus: { labels: { cluster: 'eu' } } }),
      of({ prometheus: token }),
      of({ prometheus: token, policy: { namespace: 'other', name: 'x' } }),
    ];
    expect(new Set([base, ...others]).size).toBe(5);
  });
});

describe('provider prometheus', () => {
  test("the operator's credentials go to the operator's address only, a policy's Secrets to wherever it may point", async () => {
    const server = await serve((received, response) =>
      response.end(
        matrix([{ metric: { pod: 'web-a', container: 'app' }, values: [[60, isCpu(received) ? '1' : '5']] }]),
      ),
    );
    const memory = createMemoryApi();
    const data = { token: Buffer.from('of-the-policy\n').toString('base64') };
    memory.put(resources.secrets, { metadata: { namespace: 'shop', name: 'token' }, data } as never);
    const own = sources(
      { api: memory.api },
      {
        url: server.url.href,
        allowedUrls: [server.url.href],
        credentials: () => Promise.resolve({ headers: { authorization: 'Bearer of-the-operator' }, ca: undefined }),
      },
    );
    const ask = async (prometheus: Parameters<typeof usageSettings>[0]) => {
      const chosen = own.sourceFor(usageSettings(prometheus));
      if (!chosen.ok) throw new Error(chosen.problem.message);
      expect((await chosen.source.fetch(request, signal)).ok).toBe(true);
      return server.received.at(-1)?.headers.authorization;
    };
    expect(await ask({})).toBe('Bearer of-the-operator');
    expect(await ask({ prometheus: { url: server.url.href } })).toBeUndefined();
    expect(await ask({ prometheus: { bearerTokenSecretRef: { name: 'token', key: 'token' } } })).toBe(
      'Bearer of-the-policy',
    );
    own.close();
  });

  test.each([
    ['an address that is not allowed', { url: 'http://169.254.169.254' }, 'allowedUrls'],
    ['a label that is none', { labels: { 'x="",y': 'z' } }, 'not a name Prometheus knows'],
  ])('%s is refused', (_name, prometheus, text) => {
    const chosen = sources({}, { url: 'http://prometheus:9090' }).sourceFor(usageSettings({ prometheus }));
    expect(chosen).toMatchObject({
      ok: false,
      problem: { reason: 'Misconfigured', message: expect.stringContaining(text) },
    });
  });

  test("an operator's address that is none is told of, without showing it", () => {
    const chosen = sources({}, { url: 'http://user:secret@prometheus' }).sourceFor(usageSettings());
    expect(chosen.ok).toBe(false);
    expect(JSON.stringify(chosen)).not.toContain('secret');
  });

  test("the operator's credentials cannot be read: said so, and nothing asked", async () => {
    const credentials = () => Promise.reject(new Error('no such file'));
    const chosen = sources({}, { url: 'http://127.0.0.1:1', credentials }).sourceFor(usageSettings());
    if (!chosen.ok) throw new Error(chosen.problem.message);
    expect(await chosen.source.fetch(request, signal)).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('no such file') },
    });
  });
});

describe('provider custom', () => {
  const custom = (config: UsageSourcesOptions['custom'], name?: string) =>
    sources({ custom: config }).sourceFor(
      usageSettings({ provider: 'custom', ...(name !== undefined && { custom: { name } }) }),
    );

  test.each([
    ['no name', undefined, 'metricsConfig.custom.name'],
    ['an unknown name', 'theirs', 'it has mine'],
    ['a name that every object has', 'toString', 'it has mine'],
  ])('%s is refused', (_name, name, text) => {
    expect(custom({ mine: { url: 'http://a' } }, name)).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining(text) },
    });
  });

  test('an endpoint is asked with JSON and answers with series; what cannot be read is left out', async () => {
    const server = await serve((_, response) =>
      response.end(
        JSON.stringify({
          series: [
            {
              pod: 'web-a',
              container: 'app',
              cpu: [[20, 0.2509], [10, 0.1], ['x', 1], [5], [7, -1], [8, null]],
              memory: [[20, 5.9]],
            },
            { pod: 'web-a' },
            5,
          ],
        }),
      ),
    );
    const chosen = custom(
      {
        mine: {
          url: `${server.url.href}usage`,
          credentials: () => Promise.resolve({ headers: { 'x-key': 'k' }, ca: undefined }),
        },
      },
      'mine',
    );
    if (!chosen.ok) throw new Error(chosen.problem.message);
    expect(await chosen.source.fetch(request, signal)).toEqual({
      ok: true,
      series: [
        {
          pod: 'web-a',
          container: 'app',
          cpu: [
            { at: 10_000, value: 100 },
            { at: 20_000, value: 250 },
          ],
          memory: [{ at: 20_000, value: 5 }],
        },
      ],
      readTo: { cpu: 20_000, memory: 20_000 },
      warnings: [expect.stringMatching(/^2 series/)],
    });
    const [received] = server.received;
    expect([received?.path, received?.headers['x-key'], JSON.parse(received?.body ?? '')]).toEqual([
      '/usage',
      'k',
      { workload: request.workload, pods: ['web-a'], containers: ['app'], from: { cpu: 0, memory: 0 }, to: 600 },
    ]);
    expect(await chosen.source.health(signal)).toEqual({ ok: true });
  });

  test.each([
    ['a page', 200, '<html>', 'Malformed'],
    ['no series', 200, '{"series":5}', 'Malformed'],
    ['forbidden', 403, '', 'Unauthorized'],
    ['overloaded', 503, '', 'Unreachable'],
    ['not found', 404, '', 'Rejected'],
  ])('%s', async (_name, status, body, reason) => {
    const server = await serve((_, response) => void response.writeHead(status).end(body));
    const chosen = custom({ mine: { url: server.url.href } }, 'mine');
    if (!chosen.ok) throw new Error(chosen.problem.message);
    expect(await chosen.source.fetch(request, signal)).toMatchObject({ ok: false, problem: { reason } });
  });

  test('for any JSON, an answer comes of it', async () => {
    let body = '';
    const server = await serve((_, response) => void response.end(body));
    const chosen = custom({ mine: { url: server.url.href } }, 'mine');
    if (!chosen.ok) throw new Error(chosen.problem.message);
    const series = fc.record({
      pod: fc.string(),
      container: fc.string(),
      cpu: fc.jsonValue(),
      memory: fc.array(fc.jsonValue()),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.jsonValue(), fc.record({ series: fc.array(fc.oneof(series, fc.jsonValue())) })),
        async (value) => {
          body = JSON.stringify(value);
          expect(typeof (await chosen.source.fetch(request, signal)).ok).toBe('boolean');
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a pair of templates asks Prometheus', async () => {
    const server = await serve((_, response) => void response.end(matrix([])));
    const chosen = custom(
      { mine: { url: server.url.href, queries: { cpu: 'c{n="$namespace"}', memory: 'm' } } },
      'mine',
    );
    if (!chosen.ok) throw new Error(chosen.problem.message);
    await chosen.source.fetch(request, signal);
    expect([chosen.source.name, ...server.received.map(({ form }) => form.get('query'))]).toEqual([
      'custom/mine',
      'c{n="shop"}',
      'm',
    ]);
  });
});

describe('provider metrics-server', () => {
  const items = (timestamp: unknown, containers: unknown) => [
    { metadata: { name: 'web-a', namespace: 'shop' }, timestamp, containers },
  ];
  const good = [{ name: 'app', usage: { cpu: '250000001n', memory: '102400Ki' } }];
  const stamp = '2026-03-02T12:00:00Z';

  function serving(list: () => unknown) {
    const calls: (string | undefined)[] = [];
    const clock = createVirtualClock(0);
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
