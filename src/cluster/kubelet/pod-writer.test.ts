import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import { createDeferred, type Deferred } from '../../lib/deferred.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createTimerGroup } from '../../lib/timer-group.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PodStatus } from './pod-status.ts';
import { createPodWriter } from './pod-writer.ts';

const pod: Pod = { metadata: { namespace: 'shop', name: 'a', uid: 'u' } };
const serverError = new KubeError(500, undefined, 'out of order');
const notFound = new KubeError(404, undefined, 'gone');
const conflict = new KubeError(409, undefined, 'another uid');

/** Each call waits to be answered; the phase and what was called are in `calls`. */
function setUp() {
  const clock = createVirtualClock(0);
  const timers = createTimerGroup(clock);
  const calls: string[] = [];
  const answers: Deferred<object>[] = [];
  const ask = (call: string): Promise<object> => {
    calls.push(call);
    const answer = createDeferred<object>();
    answers.push(answer);
    return answer.promise;
  };
  const api = {
    patch: (_type: unknown, name: string, { body }: { body: { status: PodStatus } }, call: object) =>
      ask(`patch ${name} ${body.status.phase} ${JSON.stringify(call)}`),
    delete: (_type: unknown, name: string, call: object) => ask(`delete ${name} ${JSON.stringify(call)}`),
  } as unknown as Pick<KubeApi, 'patch' | 'delete'>;
  const state = { phase: 'Pending' };
  const writer = createPodWriter({
    api,
    log: createSilentLogger(),
    after: timers.after,
    pod: () => pod,
    status: () => ({ phase: state.phase }),
  });
  return {
    clock,
    timers,
    calls,
    state,
    writer,
    /** To the oldest call without one; then lets everything go on. */
    async answer(error?: Error) {
      const oldest = answers.shift();
      if (error === undefined) oldest?.resolve({});
      else oldest?.reject(error);
      await clock.advance(0);
    },
  };
}

const patched = (phase: string): string => `patch a ${phase} {"namespace":"shop","subresource":"status"}`;
const DELETED = 'delete a {"namespace":"shop","uid":"u","gracePeriodSeconds":0}';

describe('the status of a pod', () => {
  test('is written one at a time, and what changes meanwhile goes out with the next write', async () => {
    const { calls, state, writer, answer } = setUp();
    void writer.report();
    for (const phase of ['Running', 'Succeeded']) {
      state.phase = phase;
      void writer.report();
    }
    expect(calls).toEqual([patched('Pending')]);
    await answer();
    expect(calls).toEqual([patched('Pending'), patched('Succeeded')]);
    await answer();
    expect(calls).toHaveLength(2);
  });

  test('is written once while it stays the same', async () => {
    const { calls, writer, answer } = setUp();
    void writer.report();
    await answer();
    await writer.report();
    expect(calls).toHaveLength(1);
  });

  test('is written again where that failed, as it is then', async () => {
    const { clock, calls, state, writer, answer } = setUp();
    void writer.report();
    await answer(serverError);
    state.phase = 'Running';
    await clock.advance(999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toEqual([patched('Pending'), patched('Running')]);
  });

  test.each([
    ['is gone', notFound],
    ['is another one by now', conflict],
  ])('is nobody to tell of where the pod %s', async (_name, error) => {
    const { clock, calls, writer, answer } = setUp();
    void writer.report();
    await answer(error);
    await clock.advance(60_000);
    expect(calls).toHaveLength(1);
  });

  test('names the conditions of a resize that has ended, and empties texts that no longer hold', async () => {
    let sent: unknown;
    const api = {
      patch: (_type: unknown, _name: string, { body }: { body: unknown }) => {
        sent = body;
        return Promise.resolve({});
      },
    } as unknown as Pick<KubeApi, 'patch' | 'delete'>;
    const condition = { type: 'PodResizePending', status: 'True', reason: 'Deferred' };
    const { after } = createTimerGroup(createVirtualClock(0));
    const status = () => ({ conditions: [condition] });
    await createPodWriter({ api, log: createSilentLogger(), after, pod: () => pod, status }).report();
    expect(sent).toEqual({
      metadata: { uid: 'u' },
      status: {
        conditions: [
          { ...condition, message: null },
          { type: 'PodResizeInProgress', $patch: 'delete' },
        ],
      },
    });
  });
});

describe('a status that is not as it was written', () => {
  const conditions = [{ type: 'Ready', status: 'True' }];
  const podAt = (resourceVersion: string, ready: string, phase = 'Running'): Pod => ({
    metadata: { ...pod.metadata, resourceVersion },
    status: { phase, conditions: [{ type: 'Ready', status: ready }] },
  });

  interface Write {
    readonly own?: PodStatus;
    /** As the server writes it. */
    readonly stored?: PodStatus;
  }

  /** The server has taken one write, of version 10; `writes` counts them all. */
  async function written({ own = { phase: 'Running', conditions }, stored = own }: Write = {}) {
    let [seen, writes] = [podAt('9', 'False'), 0];
    let fails = false;
    const api = {
      patch: () => {
        writes++;
        return fails
          ? Promise.reject(serverError)
          : Promise.resolve({ metadata: { resourceVersion: `${9 + writes}` }, status: stored });
      },
    } as unknown as Pick<KubeApi, 'patch' | 'delete'>;
    const clock = createVirtualClock(0);
    const { after } = createTimerGroup(clock);
    const writer = createPodWriter({ api, log: createSilentLogger(), after, pod: () => seen, status: () => own });
    await writer.report();
    return {
      clock,
      fail: () => (fails = true),
      async see(next: Pod): Promise<number> {
        seen = next;
        writer.review();
        await clock.advance(0);
        return writes;
      },
    };
  }

  test('is written again: an earlier write was on its way still, or somebody else wrote', async () => {
    const { see } = await written();
    expect(await see(podAt('11', 'False'))).toBe(2);
    expect(await see(podAt('12', 'True'))).toBe(2);
  });

  test.each([
    ['is of before the write', podAt('9', 'False')],
    ['is as it was written', podAt('11', 'True')],
    ['has ended, which is for good', podAt('11', 'False', 'Failed')],
  ])('is left where the pod that is seen %s', async (_name, next) => {
    const { see } = await written();
    expect(await see(next)).toBe(1);
  });

  const held = (cpu: string, restartCount = 0) => [
    {
      ...{ name: 'app', image: 'app:1', imageID: 'app:1', ready: true, restartCount },
      ...{ allocatedResources: { cpu }, resources: { requests: { cpu } } },
    },
  ];
  const inResize = [...conditions, { type: 'PodResizeInProgress', status: 'True' }];

  test.each<[string, PodStatus, number]>([
    ['is left where it holds as much by another word', { conditions, containerStatuses: held('1') }, 1],
    ['is written again where it holds what it held before', { conditions, containerStatuses: held('500m') }, 2],
    ['is written again where its container ended more often', { conditions, containerStatuses: held('1', 1) }, 2],
    ['is written again where it is still being resized', { conditions: inResize, containerStatuses: held('1') }, 2],
  ])('of a pod, as the server has it, %s', async (_name, status, expected) => {
    const own = { phase: 'Running', conditions, containerStatuses: held('1000m') };
    const stored = { phase: 'Running', conditions, containerStatuses: held('1') };
    const { see } = await written({ own, stored });
    expect(await see({ ...podAt('11', 'True'), status: { phase: 'Running', ...status } })).toBe(expected);
  });

  test('is written once a second where that fails, no faster', async () => {
    const { clock, fail, see } = await written();
    fail();
    expect(await see(podAt('11', 'False'))).toBe(2);
    await clock.advance(3000);
    expect(await see(podAt('12', 'False'))).toBe(6);
  });
});

describe('the end of a pod', () => {
  test('is written after its last status', async () => {
    const { calls, state, writer, answer } = setUp();
    void writer.report();
    state.phase = 'Succeeded';
    void writer.remove();
    await answer();
    expect(calls).toEqual([patched('Pending'), patched('Succeeded')]);
    await answer();
    expect(calls).toEqual([patched('Pending'), patched('Succeeded'), DELETED]);
  });

  test('is written again where that failed, until the pod is gone', async () => {
    const { clock, calls, writer, answer } = setUp();
    void writer.remove();
    await answer();
    await answer(serverError);
    await clock.advance(1000);
    await answer(notFound);
    await clock.advance(60_000);
    expect(calls).toEqual([patched('Pending'), DELETED, DELETED]);
  });
});

test.each([
  ['before the last status is written', 1],
  ['before the end is written', 2],
])('a kubelet that goes away %s writes nothing more', async (_name, answers) => {
  const { clock, timers, calls, writer, answer } = setUp();
  void writer.remove();
  for (let count = 1; count < answers; count++) await answer();
  writer.close();
  timers.end();
  await answer(answers === 1 ? undefined : serverError);
  await clock.advance(60_000);
  expect(calls).toHaveLength(answers);
});
