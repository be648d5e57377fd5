import { describe, expect, test } from 'vitest';
import type { ResourceAdvice } from '../../decide/rightsizing/advice.ts';
import type { Beginning } from '../../decide/rightsizing/side-by-side.ts';
import { dueAdvice } from '../../decide/rightsizing/testing/advice.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import { createRestartGate, passGate } from './restart-gate.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const restart = { minShare: 0.2, cooldownMillis: HOUR };
const size = { cpuRequest: 1000, memoryRequest: 1000 };
const to = (amounts: SizeChange['to'], container = 'app'): SizeChange => ({ container, to: amounts });
const lessCpu = to({ cpuRequest: 500 });
const lessMemory = to({ memoryRequest: 500 });
const moreMemory = to({ memoryRequest: 2000 });

/** Of memory, which is ready to be lowered so much later. */
const readyIn = (millis: number): ResourceAdvice => ({
  ...dueAdvice(1000),
  isDue: false,
  held: 'Cooldown',
  readyAt: NOON + millis,
});

interface Given {
  readonly restarts?: 'cpu' | 'memory' | 'both' | 'none';
  readonly lastApplied?: number;
  /** Of CPU, where that is another time. */
  readonly lastCpu?: number;
  readonly memoryAdvice?: ResourceAdvice;
  readonly awaitingSince?: number;
}

function contextFor({ restarts = 'both', lastApplied, memoryAdvice = dueAdvice(1000) }: Given) {
  const of = (resource: 'cpu' | 'memory') =>
    restarts === resource || restarts === 'both' ? ('RestartContainer' as const) : ('NotRequired' as const);
  const inForce = [aContainer({ size, cpuRestart: of('cpu'), memoryRestart: of('memory') })];
  const memory = createRightsizingMemory().of('u');
  memory.times.resume(lastApplied, undefined, lastApplied);
  const advice = [{ container: 'app', current: size, cpu: dueAdvice(500), memory: memoryAdvice }];
  return { advised: { inForce, advice }, memory, policy: validPolicy() } as unknown as ApplyContext;
}
const ask = (given: Given, beginning: Partial<Beginning>, isInPlace = true) => {
  const { advised, policy } = contextFor(given);
  const may = { raises: [], decreases: [], ...beginning };
  const { lastApplied, lastCpu = lastApplied, awaitingSince } = given;
  const lastChange = ({ resource }: SizedPart) => (resource === 'cpu' ? lastCpu : lastApplied);
  const gated = passGate({ advised, policy, lastChange, awaitingSince, now: NOON }, may, { restart }, isInPlace);
  const { beginning: begun, held, awaitingSince: since } = gated;
  return { ...begun, held: held?.reason, again: held?.againAfterMillis, since };
};

describe('in place', () => {
  test.each<[string, Given, Partial<Beginning>, object]>([
    ['what is worth it begins', {}, { decreases: [lessCpu] }, { decreases: [lessCpu], held: undefined }],
    [
      'what is not waits',
      {},
      { decreases: [to({ cpuRequest: 950 })] },
      { decreases: [], held: 'TooLittleToRestart', again: undefined },
    ],
    [
      'a moment after another change it waits, and for how long is known',
      { lastApplied: NOON - 10 * MINUTE },
      { decreases: [lessCpu] },
      { decreases: [], held: 'RestartCooldown', again: 50 * MINUTE },
    ],
    [
      'a resource that needs no restart is never held back',
      { restarts: 'memory', lastApplied: NOON },
      { decreases: [lessCpu] },
      { decreases: [lessCpu], held: undefined },
    ],
    [
      'nor is it along with one that does',
      { restarts: 'memory', lastApplied: NOON },
      { decreases: [to({ cpuRequest: 500, memoryRequest: 500 })] },
      { decreases: [lessCpu], held: 'RestartCooldown' },
    ],
    [
      'the other way round',
      { restarts: 'cpu', lastApplied: NOON },
      { decreases: [to({ cpuRequest: 500, memoryRequest: 500 })] },
      { decreases: [lessMemory], held: 'RestartCooldown' },
    ],
    [
      'what was changed without a restart begins no pause',
      { restarts: 'memory', lastCpu: NOON },
      { decreases: [lessMemory] },
      { decreases: [lessMemory], held: undefined },
    ],
    [
      'a raise that restarts takes with it what goes down',
      { lastApplied: NOON },
      { raises: [moreMemory], decreases: [lessCpu] },
      { raises: [moreMemory], decreases: [lessCpu], held: undefined },
    ],
    [
      'one that restarts nothing does not',
      { restarts: 'cpu', lastApplied: NOON },
      { raises: [moreMemory], decreases: [lessCpu] },
      { raises: [moreMemory], decreases: [], held: 'RestartCooldown' },
    ],
  ])('%s', (_, given, beginning, expected) => {
    expect(ask(given, beginning)).toMatchObject(expected);
  });

  test('more that room cuts short waits with what goes down; what restarts nothing does not', () => {
    const notes = (['target', 'quota'] as const).map((stage, index) => ({
      stage,
      value: 2000 - index * 900,
      text: '',
    }));
    const given = { memoryAdvice: { ...dueAdvice(1100), notes }, lastApplied: NOON - 10 * MINUTE };
    const little = to({ memoryRequest: 1100 });
    const moreCpu = to({ cpuRequest: 1010 });
    const all = { raises: [to({ cpuRequest: 1010, memoryRequest: 1100 })], decreases: [lessCpu] };
    expect(ask(given, { raises: [little], decreases: [lessCpu] })).toEqual({
      raises: [],
      decreases: [],
      held: 'RaiseCutShort',
      again: 50 * MINUTE,
      since: undefined,
    });
    expect(ask({ ...given, restarts: 'memory' }, all)).toMatchObject({
      raises: [moreCpu],
      decreases: [lessCpu],
      held: 'RaiseCutShort',
    });
    expect(ask({ ...given, restarts: 'none' }, all)).toMatchObject({ ...all, held: undefined });
  });
});

describe('restarts that could be one', () => {
  test('less waits for less of the other resource, from when it began to wait', () => {
    const memoryAdvice = readyIn(20 * MINUTE);
    const first = ask({ memoryAdvice }, { decreases: [lessCpu] });
    expect(first).toMatchObject({ decreases: [], held: 'RestartTogether', again: 20 * MINUTE, since: NOON });
    const later = ask({ memoryAdvice, awaitingSince: NOON - 30 * MINUTE }, { decreases: [lessCpu] });
    expect(later).toMatchObject({ held: 'RestartTogether', since: NOON - 30 * MINUTE });
    // What is ready only after the wait is over is not waited for.
    const over = ask({ memoryAdvice, awaitingSince: NOON - 50 * MINUTE }, { decreases: [lessCpu] });
    expect(over).toMatchObject({ decreases: [lessCpu], held: undefined });
  });

  test('not where the other costs no restart; with nothing to begin the wait is forgotten', () => {
    const memoryAdvice = readyIn(20 * MINUTE);
    expect(ask({ memoryAdvice, restarts: 'cpu' }, { decreases: [lessCpu] }).held).toBeUndefined();
    expect(ask({ memoryAdvice, awaitingSince: NOON - MINUTE }, {}).since).toBeUndefined();
  });

  test('what costs no restart begins meanwhile', () => {
    const given = { restarts: 'memory', memoryAdvice: readyIn(20 * MINUTE) } as const;
    expect(ask(given, { decreases: [lessCpu] })).toMatchObject({ decreases: [lessCpu], held: undefined });
  });

  test('since when it waits is remembered of each workload, until it begins', async () => {
    const clock = createVirtualClock(NOON);
    const gate = createRestartGate({ settings: () => ({ restart }), clock });
    const [context, other] = [contextFor({ memoryAdvice: readyIn(20 * MINUTE) }), contextFor({})];
    const less = { raises: [], decreases: [lessCpu] };
    const pass = (asked = context) => gate.inPlace(asked, less).held?.reason;
    expect([pass(), pass(other)]).toEqual(['RestartTogether', undefined]);
    await clock.advance(50 * MINUTE);
    const later = { ...context, advised: contextFor({ memoryAdvice: readyIn(65 * MINUTE) }).advised };
    // It has waited for too long by then; whoever begins to wait now has not.
    expect([pass(later), pass({ ...later, memory: other.memory })]).toEqual([undefined, 'RestartTogether']);
    gate.inPlace(later, { raises: [], decreases: [] });
    expect(pass(later)).toBe('RestartTogether');
  });
});

describe('where every change means new pods', () => {
  test('a policy of containers saves nothing', () => {
    const given = { restarts: 'none', lastApplied: NOON } as const;
    expect(ask(given, { decreases: [lessCpu] }, false).held).toBe('RestartCooldown');
    expect(ask(given, { decreases: [lessCpu] }, true).held).toBeUndefined();
  });

  test('raises and decreases of a container are one change', () => {
    const due = [to({ cpuRequest: 500, memoryRequest: 2000 })];
    const gate = createRestartGate({ settings: () => ({ restart }), clock: createVirtualClock(NOON) });
    expect(gate.newPods(contextFor({}), due)).toEqual({ beginning: due, held: undefined });
    const { beginning, held } = gate.newPods(contextFor({ lastApplied: NOON }), [lessCpu]);
    expect([beginning, held?.reason]).toEqual([[], 'RestartCooldown']);
  });
});
