import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createJournal, type JournalInput, journalOf } from './journal.ts';

const blocked = (reason: string, message = reason): JournalInput => ({ kind: 'blocked', reason, message });
const done = (pod: string): JournalInput => ({
  kind: 'done',
  reason: 'EvictedForRebalance',
  message: `evicted ${pod}`,
  pod,
});

describe('createJournal', () => {
  test('the same block is counted with its first and last time and its newest message', async () => {
    const clock = createVirtualClock(1_000);
    const journal = createJournal({ clock });
    journal.record('w', blocked('CooldownActive', '10 s left'));
    await clock.advance(5_000);
    journal.record('w', blocked('CooldownActive', '5 s left'));
    expect(journal.entries('w')).toEqual([
      { kind: 'blocked', reason: 'CooldownActive', message: '5 s left', firstAt: 1_000, lastAt: 6_000, count: 2 },
    ]);
  });

  test('of another kind, reason or pod it is another matter; what is seen again is counted, too', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    const matters: JournalInput[] = [
      blocked('A'),
      blocked('B'),
      { ...blocked('A'), pod: 'p' },
      { ...blocked('A'), kind: 'seen' },
    ];
    for (const matter of [...matters, ...matters]) journal.record('w', matter);
    expect(journal.entries('w').map(({ count }) => count)).toEqual([2, 2, 2, 2]);
  });

  test('actions are never merged', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    journal.record('w', done('a'));
    journal.record('w', done('a'));
    expect(journal.entries('w').map(({ count }) => count)).toEqual([1, 1]);
  });

  test('the newest entry is last, also when an old block comes back', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    for (const reason of ['A', 'B', 'A']) journal.record('w', blocked(reason));
    expect(journal.entries('w').map(({ reason }) => reason)).toEqual(['B', 'A']);
  });

  test('of many workloads fewer entries are kept: of those that act often, and never less than eight', () => {
    const journal = createJournal({ clock: createVirtualClock(0), maxTotal: 60 });
    for (let index = 0; index < 20; index++) journal.record('quiet', done(String(index)));
    for (let index = 0; index < 300; index++) journal.record('busy', done(String(index)));
    expect([...journal.all()].length).toBeLessThanOrEqual(61);
    expect(journal.entries('quiet')).toHaveLength(20);
    expect(journal.entries('busy').at(-1)?.pod).toBe('299');
    for (let index = 0; index < 300; index++) journal.record(`w${index % 10}`, done(String(index)));
    for (let index = 0; index < 50; index++) journal.record('busy', blocked(String(index)));
    expect(journal.entries('quiet')).toHaveLength(20);
    expect(journal.entries('busy')).toHaveLength(8);
    for (let index = 0; index < 10; index++) expect(journal.entries(`w${index}`)).toHaveLength(8);
    expect(journal.forgottenUntil).toBe(0);
    for (const { workload } of [...journal.all()]) journal.forget(workload);
    for (let index = 0; index < 70; index++) journal.record('new', done(String(index)));
    expect(journal.entries('new').length).toBeGreaterThan(55);
  });

  test.each([
    ['of one engine', { maxEntries: 64 }, 48],
    ['where all workloads together are too many', { maxTotal: 8 }, 6],
  ])('what was said takes no room from what was done but a quarter, %s', (_, bounds, kept) => {
    const journal = createJournal({ clock: createVirtualClock(0), ...bounds });
    const advised = (index: number): JournalInput => ({ kind: 'decided', reason: 'Advised', message: String(index) });
    for (let index = 0; index < kept; index++) journal.record('w', done(String(index)));
    for (let index = 0; index < 500; index++) journal.record('w', advised(index));
    const deeds = journal.entries('w').filter(({ kind }) => kind === 'done');
    expect(deeds.map(({ pod }) => pod)).toEqual(Array.from({ length: kept }, (_each, index) => String(index)));
    expect(journal.entries('w').at(-1)?.message).toBe('499');
    expect(journal.entries('w')).toHaveLength((kept / 3) * 4);
    expect(journal.forgottenUntil).toBeUndefined();
    for (let index = 0; index < 500; index++) journal.record('w', done(String(index)));
    expect(journal.entries('w').filter(({ kind }) => kind === 'decided')).toHaveLength(kept / 3);
  });

  test('what was said uses the room that nothing done needs', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    for (let index = 0; index < 100; index++) journal.record('w', blocked(String(index)));
    expect(journal.entries('w')).toHaveLength(64);
    journal.record('w', done('a'));
    expect(journal.entries('w')).toHaveLength(64);
    expect(journal.entries('w').at(0)?.reason).toBe('37');
  });

  test('entries and workloads are bounded, the oldest go first', () => {
    const journal = createJournal({ clock: createVirtualClock(0), maxEntries: 2, maxWorkloads: 2 });
    for (const pod of ['a', 'b', 'c']) journal.record('w', done(pod));
    expect(journal.entries('w').map(({ pod }) => pod)).toEqual(['b', 'c']);
    journal.record('x', done('a'));
    journal.record('w', done('d'));
    journal.record('y', done('a'));
    expect(journal.size).toBe(2);
    expect(journal.entries('x')).toEqual([]);
  });

  test('a workload that is gone is forgotten', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    journal.record('w', done('a'));
    journal.forget('w');
    expect(journal.entries('w')).toEqual([]);
    expect(journal.size).toBe(0);
  });

  test('entries are a copy: later records do not change what was read', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    journal.record('w', done('a'));
    const read = journal.entries('w');
    journal.record('w', done('b'));
    expect(read).toHaveLength(1);
  });

  test('the newest entries of all workloads come newest first, however many workloads there are', async () => {
    const clock = createVirtualClock(0);
    const journal = createJournal({ clock });
    for (const workload of ['w', 'x', 'y', 'w']) {
      await clock.advance(1_000);
      journal.record(workload, done(workload));
    }
    const seen = journal.recent(3).map(({ workload, entry }) => [workload, entry.lastAt]);
    expect(seen).toEqual([
      ['w', 4_000],
      ['y', 3_000],
      ['x', 2_000],
    ]);
    expect(journal.recent(100)).toHaveLength(4);
    expect(journal.recent(0)).toEqual([]);
  });

  test('who listens is told of each record with its count, until the subscription ends', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    const heard: unknown[] = [];
    const end = journal.onRecord(({ workload, entry }) => heard.push([workload, entry.reason, entry.count]));
    journal.record('w', blocked('A'));
    journal.record('w', blocked('A'));
    end();
    journal.record('w', blocked('A'));
    expect(heard).toEqual([
      ['w', 'A', 1],
      ['w', 'A', 2],
    ]);
  });

  test('all that is kept is told with its workload', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    for (const workload of ['w', 'x', 'w']) journal.record(workload, done(workload));
    expect([...journal.all()].map(({ workload, entry }) => [workload, entry.pod])).toEqual([
      ['x', 'x'],
      ['w', 'w'],
      ['w', 'w'],
    ]);
  });

  test('when the newest of what was done and is no longer kept happened is known; of blocks and advice nothing is lost', async () => {
    const clock = createVirtualClock(0);
    const journal = createJournal({ clock, maxEntries: 2, maxWorkloads: 2 });
    for (const reason of ['A', 'B', 'C']) journal.record('w', blocked(reason));
    for (const message of ['more', 'less', 'more'])
      journal.record('w', { kind: 'decided', reason: 'RecommendationGenerated', message });
    expect(journal.forgottenUntil).toBeUndefined();
    for (const pod of ['a', 'b', 'c']) {
      await clock.advance(1_000);
      journal.record('w', done(pod));
    }
    expect(journal.forgottenUntil).toBe(1_000);
    journal.forget('w');
    expect(journal.forgottenUntil).toBe(3_000);
    for (const workload of ['x', 'y', 'z']) {
      await clock.advance(1_000);
      journal.record(workload, done('a'));
    }
    expect(journal.forgottenUntil).toBe(4_000);
  });
});

describe('journalOf', () => {
  test('entries name the engine, and one engine does not push out what another did', () => {
    const journal = createJournal({ clock: createVirtualClock(0), maxEntries: 2 });
    journalOf(journal, 'placement').record('w', done('moved'));
    const allocation = journalOf(journal, 'allocation');
    for (const pod of ['a', 'b', 'c']) allocation.record('w', done(pod));
    expect(journal.entries('w').map(({ engine, pod }) => [engine, pod])).toEqual([
      ['placement', 'moved'],
      ['allocation', 'b'],
      ['allocation', 'c'],
    ]);
    expect(journal.size).toBe(1);
    expect(journal.forgottenUntil).toBe(0);
  });

  test('the same reason of two engines is two matters', () => {
    const journal = createJournal({ clock: createVirtualClock(0) });
    for (const engine of ['placement', 'rightsizing', 'placement'] as const)
      journalOf(journal, engine).record('w', blocked('CachesStale'));
    expect(journal.entries('w').map(({ engine, count }) => [engine, count])).toEqual([
      ['rightsizing', 1],
      ['placement', 2],
    ]);
  });
});
