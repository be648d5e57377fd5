import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ThrottlingAnswer, ThrottlingRequest } from '../../observe/usage/usage-source.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import type { ApplyContext } from './apply.ts';
import { createLookForThrottling, throttlingNote } from './throttling.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();

function scene(to: Readonly<Record<string, number>>, answers: (request: ThrottlingRequest) => ThrottlingAnswer) {
  const clock = createVirtualClock(NOON);
  const asked: ThrottlingRequest[] = [];
  const change = anOngoingChange([{ container: 'app', to }], [aContainer()]);
  const look = createLookForThrottling({
    clock,
    usage: {
      throttlingOf: async (request) => {
        asked.push(request);
        return answers(request);
      },
    },
  });
  const context = { advised: { workload: aSizedWorkload() }, live: [], signal } as unknown as ApplyContext;
  return { clock, asked, change, look: async () => (await look(context, change))('app') };
}
type Scene = ReturnType<typeof scene>;
const share = (value: number): ThrottlingAnswer => ({ ok: true, shares: new Map([['app', value]]) });
const lower = { cpuLimit: 100 };

describe('throttling after a lower CPU limit', () => {
  test('is compared with the minutes before the change, once the minutes after it are over', async () => {
    const { clock, asked, look }: Scene = scene(lower, ({ agoMillis }) =>
      share(clock.now() - agoMillis <= NOON ? 0.01 : 0.7),
    );
    expect(await look()).toBeUndefined();
    expect(asked).toMatchObject([{ agoMillis: 0, windowMillis: 5 * MINUTE, containers: ['app'] }]);
    await clock.advance(5 * MINUTE);
    expect(await look()).toBeUndefined();
    await clock.advance(MINUTE);
    expect(await look()).toEqual({ before: 0.01, now: 0.7 });
    // All of what is looked at lies after the change.
    expect(asked.at(-1)).toMatchObject({ agoMillis: MINUTE });
  });

  test('is asked for once a minute at most', async () => {
    const { clock, asked, look } = scene(lower, () => share(0));
    await look();
    await clock.advance(6 * MINUTE);
    for (let second = 0; second < 59; second++) {
      await look();
      await clock.advance(1_000);
    }
    expect(asked).toHaveLength(2);
  });

  test.each([{ cpuRequest: 100 }, { memoryLimit: 1 }, { cpuLimit: 4000 }])('nobody is asked for %j', async (to) => {
    const { clock, asked, look } = scene(to, () => share(0.9));
    await look();
    await clock.advance(10 * MINUTE);
    expect(await look()).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('where the source cannot tell, nothing is known, and that is told', async () => {
    const problem = { reason: 'NoData', message: 'metrics-server does not count throttled periods' } as const;
    const { clock, change, look } = scene(lower, () => ({ ok: false, problem }));
    expect(throttlingNote([change])).toBeUndefined();
    await look();
    await clock.advance(10 * MINUTE);
    expect(await look()).toBeUndefined();
    expect(throttlingNote([change])).toBe(
      'whether its lower CPU limit throttles is not known: metrics-server does not count throttled periods',
    );
  });

  test('a source that comes back is believed again', async () => {
    let isUp = false;
    const problem = { reason: 'Unreachable', message: 'down' } as const;
    const { clock, change, look } = scene(lower, () => (isUp ? share(0.2) : { ok: false, problem }));
    await look();
    isUp = true;
    await clock.advance(MINUTE);
    await look();
    expect(throttlingNote([change])).toBeUndefined();
    await clock.advance(6 * MINUTE);
    expect(await look()).toEqual({ before: 0.2, now: 0.2 });
  });
});
