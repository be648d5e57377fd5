import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { createLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createAccessReview } from './access-review.ts';
import { startEndpointServer, textAnswer } from './endpoint-server.ts';

interface Posted {
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** An API server that knows the token `good` as the user `prometheus`, who may get /metrics, and `other`, who may not. */
function createReviewer() {
  const clock = createVirtualClock(0);
  const posted: Posted[] = [];
  const logged: string[] = [];
  let isDown = false;
  const create = async (_type: unknown, object: unknown) => {
    if (isDown) throw new Error('connection refused');
    const review = object as Posted;
    posted.push(review);
    if (review.kind === 'TokenReview') {
      const users: Record<string, object> = {
        good: { username: 'prometheus', uid: 'u1', groups: ['system:authenticated'] },
        other: { username: 'somebody' },
      };
      const user = users[String(review.spec['token'])];
      return { ...review, status: user === undefined ? { authenticated: false } : { authenticated: true, user } };
    }
    const { path } = review.spec['nonResourceAttributes'] as { readonly path: string };
    return { ...review, status: { allowed: review.spec['user'] === 'prometheus' && path === '/metrics' } };
  };
  const log = createLogger({ level: 'warn', format: 'text', clock, write: (line) => logged.push(line) });
  const authorize = createAccessReview({ api: { create } as unknown as Pick<KubeApi, 'create'>, clock, log });
  const ask = async (authorization: string | undefined, path = '/metrics') =>
    (await authorize({ path, authorization }))?.status;
  return {
    ask,
    authorize,
    clock,
    posted,
    logged,
    setDown: (value: boolean) => {
      isDown = value;
    },
  };
}

describe('who asks', () => {
  test('with a token of a user who may get the path is let in', async () => {
    const { ask, posted } = createReviewer();
    expect(await ask('Bearer good')).toBeUndefined();
    expect(posted).toEqual([
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'good' } },
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'prometheus',
          uid: 'u1',
          groups: ['system:authenticated'],
          nonResourceAttributes: { path: '/metrics', verb: 'get' },
        },
      },
    ]);
  });

  test.each([
    ['without a token', undefined],
    ['with another scheme', 'Basic Z29vZA=='],
    ['with words after the token', 'Bearer good evil'],
    ['with a token of impossible length', `Bearer ${'a'.repeat(20_000)}`],
    ['with nothing behind the scheme', 'Bearer '],
  ])('%s is refused without asking anybody', async (_how, authorization) => {
    const { ask, posted } = createReviewer();
    expect(await ask(authorization)).toBe(401);
    expect(posted).toEqual([]);
  });

  test('with an unknown token is not known; one without the right is told which it lacks', async () => {
    const { ask, authorize } = createReviewer();
    expect(await ask('Bearer forged')).toBe(401);
    expect(await ask('Bearer other')).toBe(403);
    const answer = await authorize({ path: '/explain', authorization: 'Bearer good' });
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      code: 'FORBIDDEN',
      message:
        'prometheus may not get /explain: bind it to a ClusterRole with that nonResourceURL, of the chart the one that ends in -explain-reader',
    });
  });

  test('is not asked about again for a minute, and then is', async () => {
    const { ask, posted, clock } = createReviewer();
    for (let scrape = 0; scrape < 5; scrape++) {
      expect(await ask('bearer good')).toBeUndefined();
      expect(await ask('Bearer other')).toBe(403);
    }
    expect(posted).toHaveLength(4);
    await clock.advance(60_000);
    expect(await ask('Bearer good')).toBeUndefined();
    expect(posted).toHaveLength(6);
  });

  test('may get one path does not mean another', async () => {
    const { ask } = createReviewer();
    expect(await ask('Bearer good', '/metrics')).toBeUndefined();
    expect(await ask('Bearer good', '/explain')).toBe(403);
  });

  test('is kept out while the API server does not answer, and let in as soon as it does; no token is logged', async () => {
    const { ask, setDown, logged } = createReviewer();
    setDown(true);
    expect(await ask('Bearer good')).toBe(503);
    setDown(false);
    expect(await ask('Bearer good')).toBeUndefined();
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain('good');
  });

  test('many tokens do not fill the memory: the oldest are forgotten', async () => {
    const { ask, posted } = createReviewer();
    await ask('Bearer good');
    for (let index = 0; index < 500; index++) await ask(`Bearer forged-${index}`);
    const before = posted.length;
    await ask('Bearer good');
    expect(posted.length).toBe(before + 2);
  });
});

test('the server asks before it answers, and answers nothing to those it keeps out', async () => {
  const { authorize } = createReviewer();
  let isAnswered = false;
  const endpoints = {
    '/metrics': () => {
      isAnswered = true;
      return textAnswer(200, 'up 1\n');
    },
  };
  const log = createLogger({ level: 'error', format: 'text', clock: createVirtualClock(0), write: () => {} });
  const address = { host: '127.0.0.1', port: 0 };
  const server = await startEndpointServer({ name: 'metrics', address, endpoints, authorize, log });
  onTestFinished(() => server.close());
  const url = `http://127.0.0.1:${server.port}/metrics`;
  expect((await fetch(url)).status).toBe(401);
  expect(isAnswered).toBe(false);
  const answer = await fetch(url, { headers: { authorization: 'Bearer good' } });
  expect([answer.status, await answer.text()]).toEqual([200, 'up 1\n']);
});

test('made-up tokens do not use up what may be asked of the API server', async () => {
  const clock = createVirtualClock(0);
  const log = createLogger({ level: 'error', format: 'text', clock, write: () => {} });
  const waiting: (() => void)[] = [];
  const create = async (_type: unknown, object: object): Promise<object> => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { ...object, status: { authenticated: false } };
  };
  const authorize = createAccessReview({ api: { create } as unknown as Pick<KubeApi, 'create'>, clock, log });
  const asked = Array.from({ length: 100 }, (_, at) => authorize({ path: '/metrics', authorization: `Bearer t${at}` }));
  expect(waiting).toHaveLength(4);
  for (const answer of waiting) answer();
  const statuses = (await Promise.all(asked)).map((answer) => answer?.status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(4);
  expect(statuses.filter((status) => status === 503)).toHaveLength(96);
  // Those that were asked are over: the next is reviewed again.
  const next = authorize({ path: '/metrics', authorization: 'Bearer later' });
  waiting.at(-1)?.();
  expect((await next)?.status).toBe(401);
});
