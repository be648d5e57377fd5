import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import type { PodAllocation } from '../api/pod-allocation.ts';
import { createMemoryApi } from '../kube/testing/memory-api.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createAllocationWriter, type PendingWrite } from './allocation-writer.ts';

const write = (name: string, growth: number, namespace = 'shop'): PendingWrite => ({
  growth,
  object: {
    metadata: { name, namespace },
    spec: { namespace, podName: name, desiredCPURequest: '100m', desiredCPULimit: '200m' },
  } satisfies PodAllocation,
});

/** Of what is asked until that is given up. */
function noAnswer(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function scene(answer: (name: string, signal: AbortSignal | undefined) => Promise<void> | void = () => {}) {
  const clock = createVirtualClock(0);
  const sent: string[] = [];
  const options: unknown[] = [];
  const warnings: string[] = [];
  const told: string[] = [];
  const api: KubeApi = {
    ...createMemoryApi().api,
    async patch(_type, name, patch, call) {
      sent.push(name);
      options.push({ type: patch.type, manager: call?.fieldManager, namespace: call?.namespace });
      await answer(name, call?.signal);
      return {} as never;
    },
  };
  const writer = createAllocationWriter({
    api,
    clock,
    monotonic: clock.now,
    log: {
      ...createSilentLogger(),
      warn: (_fields, message) => warnings.push(message),
      info: ({ namespace }, message) => told.push(`${String(namespace)}: ${message}`),
    },
    deadlineMillis: () => 5000,
    longestTroubleMillis: () => 12_000,
  });
  const run = (writes: readonly PendingWrite[]) => writer.write(writes, new AbortController().signal);
  return { clock, sent, options, warnings, told, writer, run };
}

describe('writes', () => {
  test('are server-side applies by the manager mbcas-agent', async () => {
    const { run, options } = scene();
    expect(await run([write('a', 1)])).toEqual(['ok']);
    expect(options).toEqual([{ type: 'apply', manager: 'mbcas-agent', namespace: 'shop' }]);
  });

  test('of metadata alone are merged: the spec of another writer stays, and nothing is made', async () => {
    const { run, options } = scene();
    expect(
      await run([{ growth: 0, isAnnotation: true, object: { metadata: { name: 'a', namespace: 'shop' } } }]),
    ).toEqual(['ok']);
    expect(options).toEqual([{ type: 'merge', manager: 'mbcas-agent', namespace: 'shop' }]);
  });

  test('P16: decreases are through before the first increase is sent', async () => {
    const finished: string[] = [];
    const order: string[] = [];
    const { run } = scene(async (name) => {
      order.push(`${name} sees ${finished.toSorted().join('')}`);
      await Promise.resolve();
      finished.push(name);
    });
    await run([write('up', 50), write('a', -20), write('b', -30), write('same', 0)]);
    expect(order.at(-1)).toBe('up sees absame');
  });

  test('are limited in one go; the largest decreases go first, and the rest is left for the next tick', async () => {
    const { run, sent } = scene();
    const results = await run(Array.from({ length: 50 }, (_, index) => write(`pod-${index}`, 25 - index)));
    expect(sent).toHaveLength(32);
    expect(sent[0]).toBe('pod-49');
    expect(results.filter((result) => result === undefined)).toHaveLength(18);
  });
});

describe('refusals', () => {
  const refusals = [
    ['401', kubeError(401, 'Unauthorized', 'who'), 'denied'],
    ['404 of the kind', kubeError(404, 'NotFound', 'the server could not find the requested resource'), 'missing'],
    ['503', kubeError(503, 'ServiceUnavailable', 'down'), 'failed'],
    ['a broken connection', new Error('socket hang up'), 'failed'],
  ] as const;

  test.each(refusals)('%s is for all: the rest is not tried, and it waits', async (_what, error, result) => {
    const { run, sent, clock, writer } = scene(() => {
      throw error;
    });
    const results = await run(Array.from({ length: 20 }, (_, index) => write(`pod-${index}`, -1)));
    expect(new Set(results)).toEqual(new Set([result, undefined]));
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(writer.isWaiting()).toBe(true);
    expect(await run([write('later', 1)])).toEqual([undefined]);
    await clock.advance(2000);
    expect(writer.isWaiting()).toBe(false);
  });

  const denial = 'admission webhook "labels.example.com" denied the request: no owner';
  const call = 'Internal error occurred: failed calling webhook "labels.example.com": connection refused';

  test.each([
    ['403', kubeError(403, 'Forbidden', 'no'), 'denied'],
    ['a quota of objects', kubeError(403, 'Forbidden', 'exceeded quota: objects'), 'denied'],
    ['a webhook that denies', kubeError(400, 'BadRequest', denial), 'denied'],
    ['a webhook that does not answer', kubeError(500, 'InternalError', call), 'failed'],
  ] as const)('%s is for a namespace: its rest is not tried and it waits, others go on', async (_, error, result) => {
    let isRefused = true;
    const { run, sent, clock, writer, warnings, told } = scene((name) => {
      if (isRefused && name.startsWith('locked')) throw error;
    });
    const locked = Array.from({ length: 20 }, (_each, index) => write(`locked-${index}`, -2, 'locked'));
    const writes = [...locked, write('down', -1), write('up', 1), write('locked-up', 1, 'locked')];
    for (const round of [1, 2]) {
      sent.length = 0;
      const results = await run(writes);
      expect(results.slice(20)).toEqual(['ok', 'ok', undefined]);
      expect(new Set(results.slice(0, 20))).toEqual(new Set([result, undefined]));
      expect(sent.filter((name) => name.startsWith('locked')).length).toBeLessThanOrEqual(4);
      expect(['locked', 'shop', undefined].map((namespace) => writer.isWaiting(namespace))).toEqual([
        true,
        false,
        true,
      ]);
      sent.length = 0;
      await run(writes);
      expect(sent).toEqual(['down', 'up']);
      await clock.advance(2000 * round);
      expect(writer.isWaiting()).toBe(false);
    }
    expect(warnings).toHaveLength(1);
    isRefused = false;
    expect(new Set(await run(writes))).toEqual(new Set(['ok']));
    expect(told).toEqual(['locked: PodAllocations can be written again']);
  });

  test('one object that is refused again and again is told once, whatever else gets through', async () => {
    const { run, warnings, told } = scene((name) => {
      if (name === 'bad') throw kubeError(422, 'Invalid', 'bad');
    });
    for (let round = 0; round < 5; round++) await run([write('bad', -1), write('good', -1)]);
    expect(warnings).toHaveLength(1);
    expect(told).toEqual([]);
  });

  test.each([
    ['422', kubeError(422, 'Invalid', 'bad')],
    ['a namespace that is ending', kubeError(403, 'Forbidden', 'ending', ['NamespaceTerminating'])],
    ['a conflict', kubeError(409, 'Conflict', 'again')],
  ])('%s is for one pod: the others go on', async (_what, error) => {
    const { run, writer } = scene((name) => {
      if (name === 'bad') throw error;
    });
    expect(await run([write('bad', -1), write('good', -1), write('more', 5)])).toEqual(['rejected', 'ok', 'ok']);
    expect(writer.isWaiting()).toBe(false);
  });

  test('an object that is gone meanwhile is no trouble at all', async () => {
    const status = { kind: 'Status', code: 404, details: { kind: 'podallocations', name: 'a' } };
    const { run, writer, warnings } = scene((name) => {
      if (name === 'a') throw new KubeError(404, status, 'not found');
    });
    const sign = { growth: 0, isAnnotation: true, object: { metadata: { name: 'a', namespace: 'shop' } } } as const;
    expect(await run([sign, write('b', 1)])).toEqual(['gone', 'ok']);
    expect(writer.isWaiting()).toBe(false);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['a minute where somebody has to mend it', kubeError(401, 'Unauthorized', 'who'), [2000, 8000, 32_000], 60_000],
    ['as long as is told where the server has trouble', new Error('down'), [2000, 8000, 12_000], 12_000],
  ])('pauses grow up to %s, and a success ends them', async (_, error, first, longest) => {
    let isDown = true;
    const { run, clock, sent } = scene(() => {
      if (isDown) throw error;
    });
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      await run([write('a', 1)]);
      const begun = clock.now();
      const before = sent.length;
      while (sent.length === before) {
        await clock.advance(500);
        await run([write('a', 1)]);
      }
      pauses.push(clock.now() - begun);
      await clock.advance(60_000);
    }
    expect(pauses.slice(0, 3)).toEqual(first);
    expect(Math.max(...pauses)).toBe(longest);
    isDown = false;
    await run([write('a', 1)]);
    expect(await run([write('a', 1)])).toEqual(['ok']);
  });

  test('increases wait where the decreases that pay for them were refused', async () => {
    const { run, sent } = scene((name) => {
      if (name === 'down') throw new Error('no');
    });
    expect(await run([write('up', 5), write('down', -5)])).toEqual([undefined, 'failed']);
    expect(sent).toEqual(['down']);
  });

  test('a namespace without an answer, as behind a webhook that hangs, leaves the others most of the time', async () => {
    const { run, clock, warnings } = scene((name, signal) =>
      name.startsWith('locked') ? noAnswer(signal) : undefined,
    );
    const locked = Array.from({ length: 6 }, (_each, index) => write(`locked-${index}`, -2, 'locked'));
    const gotThrough: number[] = [];
    while (clock.now() < 240_000) {
      const results: unknown[] = [];
      const running = run([...locked, write('up', 1)]).then((all) => results.push(...all));
      while (results.length === 0) await clock.advance(1000);
      await running;
      if (results.at(-1) === 'ok') gotThrough.push(clock.now());
    }
    const gaps = gotThrough.map((at, index) => at - (gotThrough[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(15_000);
    expect(gotThrough.length).toBeGreaterThan(40);
    // Told once, of the namespace.
    expect(warnings).toHaveLength(1);
  });

  test('a server that is slow, and does answer, is not waited for beyond the deadline', async () => {
    const { run, clock, writer } = scene(async (name, signal) => {
      if (name === 'slow') await noAnswer(signal);
    });
    const running = run([write('slow', -2), write('quick', -1)]);
    await clock.advance(5000);
    expect(await running).toEqual(['failed', 'ok']);
    expect(writer.isWaiting()).toBe(false);
  });

  test('nothing at all in time is for all', async () => {
    const { run, clock, writer } = scene((_, signal) => noAnswer(signal));
    const running = run([write('a', -1), write('b', -1, 'other')]);
    await clock.advance(5000);
    expect(await running).toEqual(['failed', 'failed']);
    expect(writer.isWaiting('third')).toBe(true);
    await clock.advance(2000);
    expect(['shop', 'other', 'third'].map((namespace) => writer.isWaiting(namespace))).toEqual([true, true, false]);
    await clock.advance(2000);
    expect(writer.isWaiting()).toBe(false);
  });

  test('a write without an answer is given up, and nothing more of that plan is sent', async () => {
    const { run, clock, sent } = scene(() => new Promise(() => {}));
    const abort = run([write('a', -1), write('up', 1)]);
    await clock.advance(5000);
    expect(sent).toEqual(['a']);
    await Promise.race([abort, Promise.resolve()]);
  });
});
