import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import { createSeededRandom } from '../lib/random.ts';
import type { SavedUsage } from './saved-usage.ts';
import { aSeries, DAY, HOUR, profileOptions } from './testing/usage.ts';
import { UsageEntry } from './usage-entry.ts';
import { UsageRing } from './usage-ring.ts';

const MIB = 1024 * 1024;
const random = createSeededRandom(1);
const never = {};

function saved(entry: UsageEntry, changes: Partial<SavedUsage> = {}): SavedUsage {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    container: 'app',
    profile: entry.profile.save(),
    options: entry.options,
    readTo: {},
    seenAt: 0,
    kills: entry.kills(),
    ...changes,
  };
}

describe('usage entry', () => {
  test('takes CPU and memory, and says whether anything was new', () => {
    const entry = new UsageEntry(profileOptions, 0);
    const series = aSeries('p', { cpu: [[HOUR, 100]], memory: [[HOUR, 50 * MIB]] });
    expect(entry.take(series, never, undefined, random)).toBe(true);
    expect(entry.take(series, { cpu: HOUR, memory: HOUR }, undefined, random)).toBe(false);
    expect([entry.profile.cpu.samples(), entry.profile.memory.peaks()[0]?.bytes]).toEqual([1, 50 * MIB]);
  });

  test('either resource alone is new', () => {
    const entry = new UsageEntry(profileOptions, 0);
    expect(entry.take(aSeries('p', { memory: [[HOUR, MIB]] }), never, undefined, random)).toBe(true);
    expect(entry.take(aSeries('p', { cpu: [[HOUR, 100]] }), never, undefined, random)).toBe(true);
    expect(entry.take(aSeries('p', {}), never, undefined, random)).toBe(false);
  });

  test('each resource has its own mark: one that failed is caught up later', () => {
    const entry = new UsageEntry(profileOptions, 0);
    const series = aSeries('p', {
      cpu: [
        [HOUR, 100],
        [2 * HOUR, 100],
      ],
      memory: [
        [HOUR, MIB],
        [2 * HOUR, MIB],
      ],
    });
    entry.take(series, { cpu: HOUR }, undefined, random);
    expect(entry.profile.cpu.samples()).toBe(1);
    expect(entry.profile.cpu.firstAt()).toBe(2 * HOUR);
    expect(entry.profile.memory.lastAt()).toBe(2 * HOUR);
  });

  test('CPU of the start counts neither in the profile nor in the ring, memory in both', () => {
    const entry = new UsageEntry(profileOptions, 0);
    entry.ring = new UsageRing(DAY);
    const start = 10 * HOUR;
    const series = aSeries('p', { cpu: [[start + 60_000, 4000]], memory: [[start + 60_000, 900 * MIB]] });
    entry.take(series, never, start, random);
    const window = entry.ring.window(start + HOUR);
    expect([entry.profile.cpu.samples(), window.cpu]).toEqual([0, undefined]);
    expect([entry.profile.memory.peaks()[0]?.bytes, window.memory?.max]).toEqual([900 * MIB, 900 * MIB]);
  });

  test('what was used before the last start is of an earlier run, and counts', () => {
    const entry = new UsageEntry(profileOptions, 0);
    entry.take(aSeries('p', { cpu: [[HOUR, 100]] }), never, 2 * HOUR, random);
    expect(entry.profile.cpu.samples()).toBe(1);
  });

  test('rightsizing bug 18: a kill that is told late counts all the same', () => {
    const entry = new UsageEntry(profileOptions, 0);
    entry.take(aSeries('p', { memory: [[2 * HOUR, 100 * MIB]] }), never, undefined, random);
    expect(entry.noteKill('uid/1', 100 * MIB, HOUR)).toBe(true);
    expect(entry.profile.memory.oom()?.bytes).toBe(200 * MIB);
  });

  test('a kill counts once, however often its pod tells of it', () => {
    const entry = new UsageEntry(profileOptions, 0);
    expect([1, 2, 3].map(() => entry.noteKill('uid/1', 100 * MIB, HOUR))).toEqual([true, false, false]);
    expect(entry.profile.memory.oom()?.count).toBe(1);
    expect(entry.noteKill('uid/2', 200 * MIB, 2 * HOUR)).toBe(true);
    expect(entry.profile.memory.oom()?.count).toBe(2);
  });

  test('rightsizing bug 16: killed from the first second on, without a sample or a limit, there is a need all the same', () => {
    const entry = new UsageEntry(profileOptions, 0);
    for (let kill = 0; kill < 5; kill++) entry.noteKill(`uid/${kill}`, 0, kill * 60_000);
    expect(entry.profile.memory.peaks()).toEqual([]);
    expect(entry.profile.memory.oom()?.bytes).toBeGreaterThan(100 * MIB);
    expect(entry.profile.memory.oom()?.count).toBe(5);
  });

  test('a loop of kills is remembered by its latest only', () => {
    const entry = new UsageEntry(profileOptions, 0);
    for (let kill = 0; kill < 100; kill++) entry.noteKill(`uid-${kill}/1`, MIB, kill * 60_000);
    expect(entry.kills()).toHaveLength(32);
    expect(entry.noteKill('uid-99/1', MIB, 99 * 60_000)).toBe(false);
  });

  test('a kill of each of a thousand pods is no news each time that all of them tell of it', () => {
    const entry = new UsageEntry(profileOptions, 0);
    const tellAll = () => Array.from({ length: 1_000 }, (_, pod) => entry.noteKill(`uid-${pod}/1`, MIB, HOUR + pod));
    expect(tellAll().every((isNew) => isNew)).toBe(true);
    const saved = entry.kills();
    expect(tellAll().some((isNew) => isNew)).toBe(false);
    expect([saved.length, entry.kills()]).toEqual([32, saved]);
  });

  test('of a pod that is killed again and again the last kill is remembered', () => {
    const entry = new UsageEntry(profileOptions, 0);
    for (let kill = 0; kill < 100; kill++) entry.noteKill(`uid/${kill}`, MIB, kill * 60_000);
    entry.noteKill('other/1', MIB, HOUR);
    entry.noteKill('uid/100', MIB, 2 * HOUR);
    expect(entry.kills()).toEqual(['other/1', 'uid/100']);
    expect(entry.noteKill('uid/100', MIB, 2 * HOUR)).toBe(false);
  });

  test('restored, it is the same, kills included', () => {
    const entry = new UsageEntry(profileOptions, 0);
    entry.take(aSeries('p', { cpu: [[HOUR, 100]], memory: [[HOUR, MIB]] }), never, undefined, random);
    entry.noteKill('uid/1', 100 * MIB, HOUR);
    entry.ring = new UsageRing(DAY);
    entry.ring.addCpu(5, HOUR, random);
    const window = { from: 0, to: 1, cpu: undefined, memory: undefined };
    const restored = new UsageEntry(entry.options, 0, saved(entry, { ring: entry.ring.save(), window }));
    expect(restored.profile.save()).toBe(entry.profile.save());
    expect(restored.ring?.save()).toEqual(entry.ring.save());
    expect(restored.window).toEqual(window);
    expect(restored.noteKill('uid/1', 100 * MIB, HOUR)).toBe(false);
  });

  test('a profile that cannot be read is refused', () => {
    const entry = new UsageEntry(profileOptions, 0);
    expect(() => new UsageEntry(profileOptions, 0, saved(entry, { profile: 'rubbish' }))).toThrow(InvalidValueError);
  });
});

describe('under other options', () => {
  function filled(): UsageEntry {
    const entry = new UsageEntry(profileOptions, 0);
    for (let hour = 0; hour < 48; hour++) {
      entry.take(aSeries('p', { cpu: [[hour * HOUR, hour % 2 === 0 ? 100 : 400]] }), never, undefined, random);
    }
    return entry;
  }

  test('rightsizing bug 5: the history stays when the policy changes its half-life', () => {
    const entry = filled();
    const before = [entry.profile.cpu.usual.percentile(0.5), entry.profile.cpu.usual.percentile(0.9)];
    entry.retune({ ...profileOptions, usualHalfLifeMillis: 24 * HOUR });
    expect([entry.profile.cpu.usual.percentile(0.5), entry.profile.cpu.usual.percentile(0.9)]).toEqual(before);
    expect(entry.profile.cpu.samples()).toBe(48);
    expect(entry.profile.cpu.usual.halfLifeMillis).toBe(24 * HOUR);
  });

  test('what comes after fades by the new half-life, and weighs against the old as it is', () => {
    const entry = filled();
    entry.retune({ ...profileOptions, usualHalfLifeMillis: HOUR });
    for (let hour = 48; hour < 60; hour++) {
      entry.take(aSeries('p', { cpu: [[hour * HOUR, 1000]] }), never, undefined, random);
    }
    expect(entry.profile.cpu.usual.percentile(0.05)).toBeGreaterThan(900);
  });

  test('the same options change nothing, not even the object', () => {
    const entry = filled();
    const { profile } = entry;
    entry.retune({ ...profileOptions });
    expect(entry.profile).toBe(profile);
  });

  test('a profile without samples takes the new options as well', () => {
    const entry = new UsageEntry(profileOptions, 0);
    entry.retune({ ...profileOptions, startupExclusionMillis: 0 });
    entry.take(aSeries('p', { cpu: [[HOUR, 5]] }), never, HOUR, random);
    expect(entry.profile.cpu.samples()).toBe(1);
  });
});
