import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { createMemoryApi } from '../../kube/testing/memory-api.ts';
import { usageSettings } from '../../model/testing/usage.ts';
import { isCpu, matrix, serve } from './testing/http-source.ts';
import { request, signal, sources } from './testing/provided.ts';
import type { UsageProvider } from './usage-providers.ts';
import type { UsageSource } from './usage-source.ts';

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
    expect(of({ policy: { group: 'optipod.io', namespace: 'other', name: 'x' } })).toBe(base);
    const token = { bearerTokenSecret: { name: 'token', key: 'token' } };
    const others = [
      of({ prometheus: { url: 'http://other:9090' } }),
      of({ prometheus: { labels: { cluster: 'eu' } } }),
      of({ prometheus: token }),
      of({ prometheus: token, policy: { group: 'optipod.io', namespace: 'other', name: 'x' } }),
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
    expect(await ask({ prometheus: { bearerTokenSecret: { name: 'token', key: 'token' } } })).toBe(
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
