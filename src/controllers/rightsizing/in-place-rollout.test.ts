import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { before, closed, harmed, lessCpu, look, moreOfBoth, pod, putBack } from '../testing/in-place-look.ts';
import { nothingSeen } from './throttling.ts';
import type { WatchState } from './watches.ts';

describe('while somebody rolls out another template', () => {
  // More CPU is due.
  const more = [
    {
      container: 'app',
      current: before[0]?.size ?? {},
      cpu: { isDue: true, request: 400, notes: [] },
      memory: { isDue: false, notes: [] },
    },
  ] as unknown as readonly SizedAdvice[];
  const workload = aSizedWorkload({ isRollingOut: true, containers: before });
  const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 5_000 };
  const moreMemory = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
  const inForceNow = JSON.stringify({ app: { memoryRequest: [128 * MIB, 256 * MIB] } });

  test('pods that are killed for want of memory are given what is due of it, and so are those to come', async () => {
    const live = [pod('old', []), pod('new-1', [], { lastTermination }), pod('new-2', [], { lastTermination }, NOON)];
    const { result, asked, written, made, ongoing } = await look(
      { ongoing: [] },
      { workload, advice: moreOfBoth },
      live,
    );
    expect(asked).toEqual([
      ['new-2', moreMemory, false],
      ['new-1', moreMemory, false],
      ['new-2', moreMemory, false],
    ]);
    expect(written).toEqual([inForceNow]);
    expect(made).toEqual([moreMemory]);
    expect(ongoing).toMatchObject([{ phase: 'spread' }]);
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout', againAfterMillis: 5_000 });
  });

  test('what a first pod of the old template was to have is in nobody’s way', async () => {
    const both = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 256 * MIB } }];
    const first = pod('first', both);
    const watched = watchChange(both, before, [], NOON - 600_000);
    const canary = { uid: 'first', name: 'first', at: NOON - 600_000 };
    const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
    const live = [first, pod('new', [], { lastTermination })];
    const { asked, written, ongoing: left } = await look({ ongoing }, { workload, advice: moreOfBoth }, live);
    expect(asked[0]).toEqual(['new', moreMemory, false]);
    expect(written).toEqual([inForceNow]);
    expect(left).toMatchObject([
      { phase: 'canary', changes: lessCpu },
      { phase: 'spread', changes: moreMemory },
    ]);
  });

  test('what a killed pod was given and could not be written is put in force at the next look', async () => {
    const watched = watchChange(moreMemory, before, [], NOON - 5_000);
    const canary = { uid: 'new', name: 'new', at: NOON - 5_000 };
    const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
    const live = [pod('old', []), pod('new', moreMemory, { lastTermination })];
    const { written, ongoing: left } = await look({ ongoing }, { workload, advice: moreOfBoth }, live);
    expect(written).toEqual([inForceNow]);
    expect(left).toMatchObject([{ phase: 'spread', changes: moreMemory }]);
  });

  test('what the last leader gave the only pod that is killed, and had no time to write, is in force with what it needs', async () => {
    const given = pod('new', [{ container: 'app', to: { memoryRequest: 192 * MIB } }], { lastTermination });
    const byUs = { ...given.sizing, sizeManagers: ['optipod'] };
    const live = [pod('old', []), { pod: { ...given.pod, sizing: byUs }, sizing: byUs }];
    const { asked, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live);
    expect(asked[0]).toEqual(['new', moreMemory, false]);
    expect(written).toEqual([inForceNow]);
  });

  const dead = { lastTermination, running: false, ready: false };

  test('one of which nothing runs now is asked nothing, as the API server would refuse it; those to come have more', async () => {
    const live = [pod('old', []), pod('new', [], dead)];
    const { result, asked, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live);
    expect(asked).toEqual([]);
    expect(written).toEqual([inForceNow]);
    expect(result).toMatchObject({
      status: 'Pending',
      reason: 'TemplateRollout',
      message: expect.stringMatching(/; pod new ends before it can be resized: deleted, it is made anew with/),
    });
  });

  test('for any pods and any advice, only what harm is seen of goes up, and nothing goes down', async () => {
    const amount = fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined });
    const anyPod = fc.record({ isKilled: fc.boolean(), running: fc.boolean(), cpuRequest: amount, memory: amount });
    const anyAdvice = fc.record({ cpu: amount, memory: amount });
    await fc.assert(
      fc.asyncProperty(fc.array(anyPod, { minLength: 1, maxLength: 4 }), anyAdvice, async (some, advised) => {
        const live = some.map(({ isKilled, running, cpuRequest, memory }, index) => {
          const to = {
            ...(cpuRequest !== undefined && { cpuRequest }),
            ...(memory !== undefined && { memoryRequest: memory * MIB }),
          };
          return pod(`${index}`, [{ container: 'app', to }], { running, ...(isKilled && { lastTermination }) });
        });
        const advice = [
          {
            container: 'app',
            current: before[0]?.size ?? {},
            cpu: { isDue: advised.cpu !== undefined, request: advised.cpu, notes: [] },
            memory: {
              isDue: advised.memory !== undefined,
              request: advised.memory === undefined ? undefined : advised.memory * MIB,
              notes: [],
            },
          },
        ] as unknown as readonly SizedAdvice[];
        const { asked, written } = await look({ ongoing: [] }, { workload, advice }, live);
        for (const [name, changes] of asked) {
          const index = Number(name);
          expect(some[index]).toMatchObject({ isKilled: true, running: true });
          const had = live[index]?.sizing.containers[0]?.size.memoryRequest ?? 0;
          expect(changes).toEqual([{ container: 'app', to: { memoryRequest: expect.any(Number) } }]);
          expect((changes as readonly SizeChange[])[0]?.to.memoryRequest).toBeGreaterThan(had);
        }
        // In force is at most what is due of memory, and only where some pod shows that less is too little.
        const isShown = some.some(({ isKilled, memory = 128 }) => isKilled && memory === 128);
        const isRaise = (advised.memory ?? 0) > 128;
        expect(written).toEqual(
          isShown && isRaise
            ? [JSON.stringify({ app: { memoryRequest: [128 * MIB, (advised.memory ?? 0) * MIB] } })]
            : [],
        );
      }),
      { numRuns: 200 },
    );
  });

  test('outside the window of the policy nothing is in force for those to come either', async () => {
    const live = [pod('old', []), pod('new', [], dead)];
    const { result, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live, closed);
    expect(written).toEqual([]);
    expect(result).toMatchObject({ status: 'Pending', reason: 'OutsideUpdateWindow' });
  });

  test.each<[string, Partial<WatchState>, unknown]>([
    ['what is due waits', {}, []],
    ['what did harm is put back all the same', harmed, putBack],
  ])('%s', async (_, watched, expected) => {
    const { result, asked } = await look(watched, { workload, advice: more });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout' });
    expect(asked).toEqual(expected);
  });

  test('a first pod that was watched long enough is judged each minute, though nothing is due: somebody may have paused it for days', async () => {
    const { result } = await look({}, { workload });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout', againAfterMillis: 60_000 });
    expect((await look(harmed, { workload })).asked).toEqual(putBack);
  });
});
