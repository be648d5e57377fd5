import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createGuardedSource } from './guarded-source.ts';
import type { UsageAnswer, UsageProblemReason, UsageRequest } from './usage-source.ts';

const { signal } = new AbortController();
const request: UsageRequest = {
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  pods: [],
  containers: [],
  from: { cpu: 0, memory: 0 },
  to: 0,
};
const good: UsageAnswer = { ok: true, series: [], readTo: {}, warnings: [] };
const failure = (reason: UsageProblemReason) => ({ ok: false, problem: { reason, message: reason } }) as const;

function setUp() {
  const clock = createVirtualClock(0);
  const calls: string[] = [];
  const fake = { answer: good, health: { ok: true } as { ok: true } | ReturnType<typeof failure> };
  const source = createGuardedSource(
    {
      name: 'fake',
      kind: 'range',
      fetch: async () => {
        calls.push('fetch');
        return fake.answer;
      },
      health: async () => {
        calls.push('health');
        return fake.health;
      },
    },
    clock,
  );
  return { clock, calls, fake, source };
}

describe('a guarded source', () => {
  test('that answers is only asked what it is asked', async () => {
    const { source, calls } = setUp();
    expect([await source.fetch(request, signal), await source.fetch(request, signal)]).toEqual([good, good]);
    expect([calls, source.name, source.kind]).toEqual([['fetch', 'fetch'], 'fake', 'range']);
  });

  test.each<UsageProblemReason>(['Unreachable', 'TimedOut', 'Unauthorized'])(
    'that was %s is tried with one small question, whatever the number of workloads',
    async (reason) => {
      const { source, calls, fake, clock } = setUp();
      fake.answer = failure(reason);
      fake.health = failure(reason);
      await source.fetch(request, signal);
      const answers = await Promise.all(Array.from({ length: 100 }, () => source.fetch(request, signal)));
      expect(answers.every((answer) => !answer.ok && answer.problem.reason === reason)).toBe(true);
      expect(calls).toEqual(['fetch', 'health']);
      await clock.advance(15_000);
      await source.fetch(request, signal);
      expect(calls).toEqual(['fetch', 'health', 'health']);
      fake.answer = good;
      fake.health = { ok: true };
      await clock.advance(15_000);
      expect(await source.fetch(request, signal)).toEqual(good);
      await source.fetch(request, signal);
      expect(calls.slice(3)).toEqual(['health', 'fetch', 'fetch']);
    },
  );

  test.each<UsageProblemReason>(['Rejected', 'Malformed', 'TooLarge', 'NoData', 'Misconfigured'])(
    '%s is about the question, not about the source',
    async (reason) => {
      const { source, calls, fake } = setUp();
      fake.answer = failure(reason);
      await source.fetch(request, signal);
      await source.fetch(request, signal);
      expect(calls).toEqual(['fetch', 'fetch']);
    },
  );

  test('that is well but slow is asked, and tried again after each failure', async () => {
    const { source, calls, fake } = setUp();
    fake.answer = failure('TimedOut');
    for (let turn = 0; turn < 3; turn++) await source.fetch(request, signal);
    expect(calls).toEqual(['fetch', 'health', 'fetch', 'health', 'fetch']);
  });
});

describe('throttling', () => {
  const asked = { workload: request.workload, pods: [], containers: [], agoMillis: 0, windowMillis: 1 };

  test('a source that does not count periods of CPU quota does not seem to', () => {
    expect(setUp().source.throttling).toBeUndefined();
  });

  test('is guarded like everything else: a source out of reach is not asked for it', async () => {
    const calls: string[] = [];
    const clock = createVirtualClock(0);
    const down = failure('Unreachable');
    const source = createGuardedSource(
      {
        name: 'fake',
        kind: 'range',
        fetch: async () => good,
        health: async () => {
          calls.push('health');
          return down;
        },
        throttling: async () => {
          calls.push('throttling');
          return down;
        },
      },
      clock,
    );
    expect(await source.throttling?.(asked, signal)).toEqual(down);
    expect(await source.throttling?.(asked, signal)).toEqual(down);
    expect(await source.fetch(request, signal)).toEqual(down);
    expect(calls).toEqual(['throttling', 'health']);
  });
});
