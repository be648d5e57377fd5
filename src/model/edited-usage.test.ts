/** Saved usage in which somebody, or a fault of a disk, has changed one place: what of it can be read is used, and nothing comes to no end. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRecord } from '../lib/is-record.ts';
import { spoiled } from '../lib/testing/spoiled.ts';
import { isSavedUsage, type SavedUsage } from './saved-usage.ts';
import { aSizedWorkload } from './testing/sizing-records.ts';
import { aBook, aSeries, DAY, HOUR, usageSettings } from './testing/usage.ts';
import type { UsageBook } from './usage-book.ts';

const web = aSizedWorkload();
const settings = usageSettings({ needsWindow: true });

function read(book: UsageBook, at: number): void {
  const points = { cpu: [[at, 100]], memory: [[at, 1e8]] } satisfies Parameters<typeof aSeries>[1];
  const series = [aSeries('a', points), aSeries('a', points, 'proxy')];
  const takenOf = () => undefined;
  book.take(web, settings, { series, readTo: { cpu: at, memory: at }, takenOf, startedAt: () => undefined }, at);
  book.noteKill(web, 'app', settings, { key: `a/${at}`, limit: 1e8, at });
}

/** With the profiles as what their texts say, so that these are changed, too. */
function savedOpenly(): unknown {
  const book = aBook();
  for (const at of [HOUR, 7 * HOUR, 30 * HOUR]) read(book, at);
  book.setWindow(web, 'proxy', { from: 0, to: HOUR, cpu: undefined, memory: undefined, since: { cpu: 1, memory: 2 } });
  const saved: unknown = JSON.parse(JSON.stringify([...book.save()].flat()));
  if (!Array.isArray(saved)) throw new Error('a list is saved');
  return saved.map((item: SavedUsage) => ({ ...item, profile: JSON.parse(item.profile) }));
}

const closed = (item: unknown): unknown =>
  isRecord(item) && isRecord(item['profile']) ? { ...item, profile: JSON.stringify(item['profile']) } : item;

function use(book: UsageBook, now: number): unknown {
  read(book, now);
  return ['app', 'proxy'].map((container) => {
    const profile = book.profileOf(web, container);
    const window = book.windowOf(web, container, now);
    const memory = profile?.memory.peaks().map(({ bytes }) => bytes);
    return [profile?.cpu.usual.percentile(0.9), profile?.cpu.day.isEmpty(), memory, profile?.memory.oom(), window];
  });
}

test('for any place that was changed, the book goes on, and what it saves can be read', () => {
  fc.assert(
    fc.property(spoiled(savedOpenly()), (edited) => {
      const items = (Array.isArray(edited) ? edited : []).map(closed).filter(isSavedUsage);
      const book = aBook();
      book.restore(items);
      expect(use(book, 40 * HOUR)).toHaveLength(2);
      expect(use(book, 40 * HOUR + DAY)).toHaveLength(2);
      const again: unknown = JSON.parse(JSON.stringify([...book.save()].flat()));
      expect(Array.isArray(again) && again.every(isSavedUsage)).toBe(true);
      expect(aBook().restore([...book.save()].flat())).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
