/** What control group files really do: their grammar by kernel, files that are not there, and the errors of a group that goes away. */
import { describe, expect, test } from 'vitest';
import { createGroupReader } from './counters.ts';
import { createFileReader, type FileCalls } from './file-reader.ts';
import type { Hierarchy } from './hierarchy.ts';

const v2: Hierarchy = { version: 2, cpu: '/cg', usage: '/cg', pressure: '/cg' };
const v1: Hierarchy = { version: 1, cpu: '/cg/cpu', usage: '/cg/cpuacct', pressure: '/cg/unified' };

/** A file's text, or the code of the error at opening (`open ENOENT`) or reading (`read ENODEV`) it. */
type Files = Record<string, string>;

/** A kernel whose files are in the test's hand. Descriptors that are held see what becomes of their file. */
function kernel(files: Files, hierarchy: Hierarchy = v2) {
  const descriptors = new Map<number, string>();
  const opened: string[] = [];
  let next = 3;
  const fail = (call: string, path: string): void => {
    const text = files[path] ?? 'open ENOENT';
    if (!text.startsWith(`${call} E`)) return;
    const code = text.slice(call.length + 1);
    throw Object.assign(new Error(`${code}: refused, ${call} '${path}'`), { code });
  };
  const calls: FileCalls = {
    open(path) {
      opened.push(path);
      fail('open', path);
      descriptors.set(next, path);
      return next++;
    },
    read(descriptor, buffer) {
      const path = descriptors.get(descriptor) ?? '';
      fail('read', path);
      // The group behind a descriptor is gone for good, even if there is a new one of its name.
      if (files[path] === undefined) throw Object.assign(new Error('ENODEV: no such device, read'), { code: 'ENODEV' });
      return buffer.write(files[path], 0, 'latin1');
    },
    close: (descriptor) => void descriptors.delete(descriptor),
  };
  const reader = createFileReader(calls);
  return { groups: createGroupReader(hierarchy, reader), files, opened, held: () => descriptors.size };
}

/** `cpu.stat` of Linux 6.18, with the controller and without it. */
const usageOnly = 'usage_usec 5000\nuser_usec 4000\nsystem_usec 1000\nnice_usec 0\ncore_sched.force_idle_usec 0\n';
const full = `${usageOnly}nr_periods 40\nnr_throttled 7\nthrottled_usec 350000\nnr_bursts 2\nburst_usec 900\n`;

describe('settings of a v2 group', () => {
  test.each<[string, Files, unknown]>([
    [
      'no quota: the word max and the period',
      { 'cpu.max': 'max 100000\n', 'cpu.weight': '100\n' },
      { quota: { quotaMicros: undefined, periodMicros: 100_000 }, weight: 100 },
    ],
    [
      'a quota of half a CPU',
      { 'cpu.max': '50000 100000\n', 'cpu.weight': '59\n' },
      { quota: { quotaMicros: 50_000, periodMicros: 100_000 }, weight: 59 },
    ],
    [
      'a kubelet with a period of its own',
      { 'cpu.max': '25000 50000\n', 'cpu.weight': '59\n' },
      { quota: { quotaMicros: 25_000, periodMicros: 50_000 }, weight: 59 },
    ],
    [
      'the least and the most that can be set',
      { 'cpu.max': '1000 1000000\n', 'cpu.weight': '10000\n' },
      { quota: { quotaMicros: 1000, periodMicros: 1_000_000 }, weight: 10_000 },
    ],
    [
      'cpu.idle: the weight shows as 0',
      { 'cpu.max': 'max 100000\n', 'cpu.weight': '0\n' },
      { quota: { quotaMicros: undefined, periodMicros: 100_000 }, weight: 0 },
    ],
    ['a kernel without bandwidth control has weights only', { 'cpu.weight': '59\n' }, { quota: undefined, weight: 59 }],
    [
      'a quota that is not understood is not known, and no guess',
      { 'cpu.max': 'some 100000\n', 'cpu.weight': '59\n' },
      { quota: undefined, weight: 59 },
    ],
  ])('%s', (_, files, settings) => {
    const { groups, held } = kernel(under('/cg/pod', files));
    expect(groups.settings('pod')).toEqual({ ok: true, value: settings });
    // Looked at now and then: an open file costs memory all the time.
    expect(held()).toBe(0);
  });

  test.each<[string, Files]>([
    ['the controller is not enabled in the parent: the group has no such files', {}],
    ['nobody may read them', { 'cpu.max': 'open EACCES', 'cpu.weight': 'open EACCES' }],
    ['they vanished between open and read', { 'cpu.max': 'read ENODEV', 'cpu.weight': 'read ENODEV' }],
  ])('%s', (_, files) => {
    const { groups, held } = kernel(under('/cg/pod', { 'cpu.stat': usageOnly, ...files }));
    expect(groups.settings('pod')).toMatchObject({ ok: false });
    expect(groups.counters('pod')).toMatchObject({ ok: true, value: { usageMicros: 5000, periods: 0 } });
    // Of what failed no descriptor is left; cpu.stat is held.
    expect(held()).toBe(1);
  });

  test('the controller is taken away and given back while the group goes on', () => {
    const { groups, files } = kernel(
      under('/cg/pod', { 'cpu.stat': full, 'cpu.max': 'max 100000\n', 'cpu.weight': '59\n' }),
    );
    expect(groups.settings('pod')).toMatchObject({ value: { weight: 59 } });
    expect(groups.counters('pod')).toMatchObject({ value: { periods: 40, throttledPeriods: 7 } });
    const [max, weight] = [files['/cg/pod/cpu.max'] ?? '', files['/cg/pod/cpu.weight'] ?? ''];
    for (const name of ['cpu.max', 'cpu.weight']) delete files[`/cg/pod/${name}`];
    files['/cg/pod/cpu.stat'] = usageOnly;
    expect(groups.settings('pod').ok).toBe(false);
    expect(groups.counters('pod')).toMatchObject({ value: { usageMicros: 5000, periods: 0, throttledPeriods: 0 } });
    Object.assign(files, under('/cg/pod', { 'cpu.max': max, 'cpu.weight': weight }));
    expect(groups.settings('pod')).toMatchObject({ value: { weight: 59 } });
  });
});

describe('counters of a group', () => {
  test('v2: microseconds, throttling where there is a quota', () => {
    const { groups } = kernel(under('/cg/pod', { 'cpu.stat': full, 'cpu.pressure': pressure(77) }));
    const counters = { usageMicros: 5000, periods: 40, throttledPeriods: 7, throttledMicros: 350_000 };
    expect(groups.counters('pod')).toEqual({ ok: true, value: { ...counters, pressureMicros: 77 } });
  });

  test('v1: nanoseconds, from two trees, and pressure from the third', () => {
    const files = {
      '/cg/cpuacct/pod/cpuacct.usage': '5000999\n',
      '/cg/cpu/pod/cpu.stat': 'nr_periods 40\nnr_throttled 7\nthrottled_time 350000000\nnr_bursts 0\nburst_time 0\n',
      '/cg/cpu/pod/cpu.cfs_quota_us': '-1\n',
      '/cg/cpu/pod/cpu.cfs_period_us': '100000\n',
      '/cg/cpu/pod/cpu.shares': '1024\n',
      '/cg/unified/pod/cpu.pressure': pressure(77),
    };
    const { groups } = kernel(files, v1);
    const counters = { usageMicros: 5000, periods: 40, throttledPeriods: 7, throttledMicros: 350_000 };
    expect(groups.counters('pod')).toEqual({ ok: true, value: { ...counters, pressureMicros: 77 } });
    expect(groups.settings('pod')).toEqual({
      ok: true,
      value: { quota: { quotaMicros: undefined, periodMicros: 100_000 }, weight: 1024 },
    });
  });

  test('v1 without the tree of quotas: none', () => {
    const { groups } = kernel({ '/cg/cpuacct/pod/cpuacct.usage': '5000999\n' }, v1);
    expect(groups.counters('pod')).toMatchObject({
      value: { usageMicros: 5000, periods: 0, pressureMicros: undefined },
    });
    expect(groups.settings('pod').ok).toBe(false);
  });

  test.each<[string, string]>([
    ['the kernel counts no pressure: no such file', 'open ENOENT'],
    ['pressure is switched off at boot: the file is there and says so', 'read EOPNOTSUPP'],
    ['pressure of this group is switched off while the file is held', 'read ENODEV'],
    ['pressure is not for this user', 'open EACCES'],
    ['pressure in words nobody knows', 'none of it\n'],
  ])('%s: unknown, everything else is read, and it is asked for once', (_, text) => {
    const { groups, opened } = kernel(under('/cg/pod', { 'cpu.stat': full, 'cpu.pressure': text }));
    for (let sample = 0; sample < 3; sample++)
      expect(groups.counters('pod')).toMatchObject({
        ok: true,
        value: { usageMicros: 5000, throttledPeriods: 7, pressureMicros: undefined },
      });
    expect(opened.filter((path) => path.endsWith('cpu.pressure'))).toHaveLength(1);
  });

  test('pressure is asked for again once the group was forgotten', () => {
    const { groups, files } = kernel(under('/cg/pod', { 'cpu.stat': full, 'cpu.pressure': 'read EOPNOTSUPP' }));
    expect(groups.counters('pod')).toMatchObject({ value: { pressureMicros: undefined } });
    files['/cg/pod/cpu.pressure'] = pressure(5);
    expect(groups.counters('pod')).toMatchObject({ value: { pressureMicros: undefined } });
    groups.forget('pod');
    expect(groups.counters('pod')).toMatchObject({ value: { pressureMicros: 5 } });
  });
});

describe('a group that goes away', () => {
  test.each<[string, string | undefined, string]>([
    ['before it is opened', undefined, 'gone'],
    ['between open and read', 'read ENODEV', 'gone'],
    ['with a file in place of its folder', 'open ENOTDIR', 'gone'],
    ['not at all, but nobody may read it', 'open EACCES', 'unreadable'],
    ['not at all, but there are no descriptors left', 'open EMFILE', 'unreadable'],
    ['not at all, but the file system gives an error', 'read EIO', 'unreadable'],
    ['not at all, but its kernel does not support the file', 'read EOPNOTSUPP', 'unreadable'],
  ])('%s', (_, text, why) => {
    const { groups, held } = kernel(text === undefined ? {} : under('/cg/pod', { 'cpu.stat': text }));
    const reading = groups.counters('pod');
    expect(reading).toMatchObject({ ok: false, why });
    expect(reading.ok ? '' : reading.message).toContain('/cg/pod/cpu.stat cannot be read: ');
    expect(held()).toBe(0);
  });

  test('while its file is held: gone, and nothing stays open', () => {
    const { groups, files, held } = kernel(under('/cg/pod', { 'cpu.stat': full }));
    expect(groups.counters('pod').ok).toBe(true);
    delete files['/cg/pod/cpu.stat'];
    expect(groups.counters('pod')).toMatchObject({ ok: false, why: 'gone' });
    expect(held()).toBe(0);
  });

  test('and one of its name that came at once is read in its place', () => {
    const { groups, files, opened } = kernel(under('/cg/pod', { 'cpu.stat': full }));
    expect(groups.counters('pod').ok).toBe(true);
    let isFirst = true;
    Object.defineProperty(files, '/cg/pod/cpu.stat', {
      get() {
        const text = isFirst ? 'read ENODEV' : usageOnly;
        isFirst = false;
        return text;
      },
    });
    expect(groups.counters('pod')).toMatchObject({ ok: true, value: { usageMicros: 5000, periods: 0 } });
    expect(opened.filter((path) => path.endsWith('cpu.stat'))).toHaveLength(2);
  });
});

const pressure = (total: number): string =>
  `some avg10=0.00 avg60=0.00 avg300=0.00 total=${total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`;

function under(folder: string, files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
}
