import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usageSettings } from '../../model/testing/usage.ts';
import { matrix, serve } from './testing/http-source.ts';
import { request, signal, sources } from './testing/provided.ts';
import type { UsageSourcesOptions } from './usage-providers.ts';

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

  test('what no machine has is left out, and told', async () => {
    const series = [
      {
        pod: 'web-a',
        container: 'app',
        cpu: [[10, 20_000]],
        memory: [
          [10, 2 ** 64],
          [20, 5],
        ],
      },
    ];
    const server = await serve((_, response) => void response.end(JSON.stringify({ series })));
    const chosen = custom({ mine: { url: server.url.href } }, 'mine');
    if (!chosen.ok) throw new Error(chosen.problem.message);
    expect(await chosen.source.fetch(request, signal)).toMatchObject({
      series: [{ cpu: [], memory: [{ at: 20_000, value: 5 }] }],
      readTo: { memory: 20_000 },
      warnings: ['2 samples are beyond any machine and were left out'],
    });
  });

  test('points of the future are left out, lest all until then count as read; milliseconds for seconds are told', async () => {
    const cpu = [
      [10, 0.1],
      [601, 0.1],
      [1_767_225_600_000, 0.1],
    ];
    const body = JSON.stringify({ series: [{ pod: 'web-a', container: 'app', cpu, memory: [] }] });
    const server = await serve((_, response) => void response.end(body));
    const chosen = custom({ mine: { url: server.url.href } }, 'mine');
    if (!chosen.ok) throw new Error(chosen.problem.message);
    expect(await chosen.source.fetch(request, signal)).toMatchObject({
      series: [{ cpu: [{ at: 10_000, value: 100 }] }],
      readTo: { cpu: 10_000 },
      warnings: ['points of the future were left out, 1 of them: instants are in Unix seconds'],
    });
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
