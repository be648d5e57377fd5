import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { createMemoryApi } from '../../kube/testing/memory-api.ts';
import { kubeError } from '../../kube/testing/scripted-api.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PrometheusAccess } from '../../model/policy-spec.ts';
import { createSecretCredentials } from './source-credentials.ts';

const { signal } = new AbortController();

function reading(
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
  access: Partial<PrometheusAccess>,
) {
  const memory = createMemoryApi();
  const put = (name: string, texts: Readonly<Record<string, string>>): void => {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    memory.put(resources.secrets, { metadata: { namespace: 'shop', name }, data } as never);
  };
  for (const [name, texts] of Object.entries(secrets)) put(name, texts);
  const clock = createVirtualClock(0);
  return { memory, clock, put, reader: createSecretCredentials(memory.api, 'shop', access, clock) };
}

const all: Partial<PrometheusAccess> = {
  headersSecret: 'headers',
  bearerTokenSecret: { name: 'auth', key: 'token' },
  caSecret: { name: 'auth', key: 'ca.crt' },
};

describe('credentials of a policy', () => {
  test('none are named: none are read', async () => {
    const { reader, memory } = reading({}, {});
    expect(await reader.read(signal)).toEqual({ ok: true, credentials: { headers: {}, ca: undefined } });
    expect(memory.calls).toEqual([]);
  });

  test('headers, token and authority come of Secrets of its own namespace', async () => {
    const { reader, memory } = reading(
      { headers: { 'X-Scope-OrgID': 'shop' }, auth: { token: 'secret\n', 'ca.crt': 'PEM' } },
      all,
    );
    expect(await reader.read(signal)).toEqual({
      ok: true,
      credentials: { headers: { 'x-scope-orgid': 'shop', authorization: 'Bearer secret' }, ca: 'PEM' },
    });
    expect(new Set(memory.calls)).toEqual(new Set(['get secrets/shop/headers', 'get secrets/shop/auth']));
  });

  test('they are kept for a minute, and no longer than until they are refused', async () => {
    const { reader, memory, put, clock } = reading(
      { auth: { token: 'old' } },
      { bearerTokenSecret: { name: 'auth', key: 'token' } },
    );
    const token = async () => {
      const answer = await reader.read(signal);
      return answer.ok ? answer.credentials.headers['authorization'] : answer.problem;
    };
    expect([await token(), await token(), memory.calls.length]).toEqual(['Bearer old', 'Bearer old', 1]);
    put('auth', { token: 'new' });
    expect(await token()).toBe('Bearer old');
    reader.refused();
    expect(await token()).toBe('Bearer new');
    put('auth', { token: 'newer' });
    await clock.advance(60_000);
    expect(await token()).toBe('Bearer newer');
  });

  test.each([
    ['no such Secret', {}, 'is not in its namespace shop'],
    ['no such key', { auth: { other: 'x' } }, 'has no key "token"'],
    ['an empty value', { auth: { token: ' \n' } }, 'has no key "token", or it is empty'],
    ['a line break inside', { auth: { token: 'hush\r\nx-admin: 1' } }, 'line break'],
    ['characters no header has', { auth: { token: 'hush\u2028' + 'x' } }, 'no header may have'],
  ])('%s: said so, and no value is shown', async (_name, secrets, text) => {
    const { reader } = reading(secrets, { bearerTokenSecret: { name: 'auth', key: 'token' } });
    const answer = await reader.read(signal);
    expect(answer).toMatchObject({
      ok: false,
      problem: { reason: 'Misconfigured', message: expect.stringContaining(text) },
    });
    expect(JSON.stringify(answer)).not.toContain('hush');
  });

  test.each(['Host', 'content-length', 'Transfer-Encoding', 'a b', 'a:b'])('a header %j is refused', async (name) => {
    const { reader } = reading({ headers: { [name]: 'hush' } }, { headersSecret: 'headers' });
    const answer = await reader.read(signal);
    expect(answer).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('cannot be sent as a header') },
    });
    expect(JSON.stringify(answer)).not.toContain('hush');
  });

  test.each([
    [403, 'may not read Secrets'],
    [500, 'cannot be read'],
  ])('HTTP %i of the API server is told with what to do, and asked again', async (status, text) => {
    const { reader, memory } = reading({ auth: { token: 'x' } }, { bearerTokenSecret: { name: 'auth', key: 'token' } });
    memory.before = () => {
      throw kubeError(status, 'x', 'no');
    };
    expect(await reader.read(signal)).toMatchObject({ ok: false, problem: { message: expect.stringContaining(text) } });
    memory.before = () => {};
    expect((await reader.read(signal)).ok).toBe(true);
  });
});
