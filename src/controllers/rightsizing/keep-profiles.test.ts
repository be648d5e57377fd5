import { describe, expect, test } from 'vitest';
import type { ProfileStore } from '../../act/save-profiles.ts';
import { kubeError } from '../../kube/testing/scripted-api.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SavedUsage } from '../../model/saved-usage.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aBook, aSeries, HOUR, usageSettings } from '../../model/testing/usage.ts';
import { createProfileKeeper } from './keep-profiles.ts';

const web = aSizedWorkload();

function savedOf(value: number): SavedUsage[] {
  const book = aBook();
  const series = [aSeries('a', { cpu: [[HOUR, value]] })];
  book.take(web, usageSettings(), { series, readTo: { cpu: HOUR }, startedAt: () => undefined }, HOUR);
  return [...book.save()].flat();
}

function setUp() {
  const clock = createVirtualClock(0);
  const book = aBook();
  const calls: string[] = [];
  const fake = {
    stored: [] as readonly SavedUsage[],
    imports: [] as readonly SavedUsage[],
    loadError: undefined as unknown,
    failed: 0,
    hangs: false,
  };
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  const store: ProfileStore = {
    load: async () => {
      calls.push('load');
      if (fake.loadError !== undefined) throw fake.loadError;
      return fake.stored;
    },
    loadImports: async () => fake.imports,
    dropImports: async () => {
      calls.push('drop imports');
      fake.imports = [];
    },
    save: async (items, signal) => {
      calls.push(`save ${items.length}`);
      if (fake.hangs) await untilAborted(signal);
      if (fake.failed === 0) fake.stored = items;
      return { written: 1, unchanged: 0, failed: fake.failed };
    },
  };
  const keeper = createProfileKeeper({
    store,
    book,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    intervalMillis: 600_000,
  });
  return { clock, book, calls, fake, keeper, controller: new AbortController() };
}

describe('keeping profiles', () => {
  test('reads before anything else, saves from time to time, and once more at the end', async () => {
    const { keeper, book, fake, clock, calls, controller } = setUp();
    fake.stored = savedOf(100);
    expect(await keeper.restore(controller.signal)).toBe(true);
    expect(book.profileOf(web, 'app')?.cpu.samples()).toBe(1);
    const done = keeper.run(controller.signal);
    await clock.advance(25 * 60_000);
    expect(calls).toEqual(['load', 'save 1', 'save 1']);
    controller.abort();
    await done;
    expect(calls).toEqual(['load', 'save 1', 'save 1', 'save 1']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('while saved usage cannot be read, nothing is saved: that would be the end of all history', async () => {
    const { keeper, fake, clock, calls, controller } = setUp();
    fake.loadError = new Error('connection refused');
    const restored = keeper.restore(controller.signal);
    await clock.advance(120_000);
    expect(calls.length).toBeGreaterThan(3);
    fake.loadError = undefined;
    await clock.advance(60_000);
    expect(await restored).toBe(true);
  });

  test('where it may not be read, collecting goes on and nothing is ever saved', async () => {
    const { keeper, fake, calls, controller } = setUp();
    fake.loadError = kubeError(403, 'Forbidden', 'no');
    expect(await keeper.restore(controller.signal)).toBe(false);
    await keeper.run(controller.signal);
    expect(calls).toEqual(['load']);
  });

  test('a process that is to end while it reads does so', async () => {
    const { keeper, fake, clock, calls, controller } = setUp();
    fake.loadError = new Error('connection refused');
    const restored = keeper.restore(controller.signal);
    await clock.advance(1000);
    controller.abort();
    expect(await restored).toBe(false);
    await keeper.run(controller.signal);
    expect(calls.every((call) => call === 'load')).toBe(true);
  });

  test('what is imported replaces what is known, is saved, and only then dropped', async () => {
    const { keeper, book, fake, clock, calls, controller } = setUp();
    await keeper.restore(controller.signal);
    const done = keeper.run(controller.signal);
    fake.imports = savedOf(300);
    fake.failed = 1;
    await clock.advance(600_000);
    expect(calls).toEqual(['load', 'save 1', 'save 1']);
    expect(book.profileOf(web, 'app')?.cpu.usual.percentile(1)).toBeCloseTo(300, -2);
    fake.failed = 0;
    await clock.advance(600_000);
    expect(calls.slice(3)).toEqual(['save 1', 'drop imports', 'save 1']);
    controller.abort();
    await done;
  });

  test('rightsizing bug 27: a save that hangs is given up when the next one is due, which is made', async () => {
    const { keeper, fake, clock, calls, controller } = setUp();
    await keeper.restore(controller.signal);
    const done = keeper.run(controller.signal);
    fake.hangs = true;
    await clock.advance(1_199_000);
    expect(calls).toEqual(['load', 'save 0']);
    fake.hangs = false;
    await clock.advance(601_000);
    expect(calls).toEqual(['load', 'save 0', 'save 0']);
    controller.abort();
    await done;
    expect(clock.pendingTimers()).toBe(0);
  });

  test('rightsizing bug 27: a save that hangs keeps no process from ending: the one under way ends at once, the last after five seconds', async () => {
    const { keeper, fake, clock, calls, controller } = setUp();
    await keeper.restore(controller.signal);
    let hasEnded = false;
    const done = keeper.run(controller.signal).then(() => {
      hasEnded = true;
    });
    fake.hangs = true;
    await clock.advance(700_000);
    controller.abort();
    await clock.advance(4_000);
    expect([calls, hasEnded]).toEqual([['load', 'save 0', 'save 0'], false]);
    await clock.advance(1_000);
    await done;
    expect(clock.pendingTimers()).toBe(0);
  });

  test('rightsizing bug 27: a save that fails does not end the keeping', async () => {
    const { keeper, fake, clock, calls, controller } = setUp();
    await keeper.restore(controller.signal);
    const done = keeper.run(controller.signal);
    const stored = fake.stored;
    Object.defineProperty(fake, 'imports', {
      get: () => {
        throw new Error('down');
      },
      configurable: true,
    });
    await clock.advance(600_000);
    Object.defineProperty(fake, 'imports', { value: [], writable: true });
    await clock.advance(600_000);
    expect([calls, stored]).toEqual([['load', 'save 0'], []]);
    controller.abort();
    await done;
  });
});
