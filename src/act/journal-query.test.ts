import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createJournal, journalOf } from './journal.ts';
import { askJournal, type JournalQuery, MAX_TOLD } from './journal-query.ts';

const MINUTE = 60_000;

/** At minute 1 web is moved; from minute 2 to 6 cart is held back; at minute 4 cart is sized in vain; at 8 mail/web. */
async function night() {
  const clock = createVirtualClock(0);
  const journal = createJournal({ clock });
  const placement = journalOf(journal, 'placement');
  const rightsizing = journalOf(journal, 'rightsizing');
  const blocked = { kind: 'blocked', reason: 'OutsideWindow', message: 'it opens at 10' } as const;
  for (let minute = 1; minute <= 8; minute++) {
    await clock.advance(MINUTE);
    const pod = `pod-${minute}`;
    if (minute === 1) placement.record('Deployment/shop/web', { kind: 'done', reason: 'Moved', message: 'm', pod });
    if (minute >= 2 && minute <= 6) placement.record('Deployment/shop/cart', blocked);
    if (minute === 4) rightsizing.record('Deployment/shop/cart', { kind: 'failed', reason: 'Refused', message: 'r' });
    if (minute === 8) placement.record('StatefulSet/mail/web', { kind: 'decided', reason: 'Advice', message: 'a' });
  }
  return journal;
}

describe('askJournal', () => {
  test.each<[string, JournalQuery, readonly string[]]>([
    ['nothing asked: all, oldest first', {}, ['Moved', 'Refused', 'OutsideWindow', 'Advice']],
    ['from an instant on, itself included', { from: 4 * MINUTE }, ['Refused', 'OutsideWindow', 'Advice']],
    ['until an instant, itself included', { to: MINUTE }, ['Moved']],
    ['what went on meanwhile belongs to it', { from: 3 * MINUTE, to: 3.5 * MINUTE }, ['OutsideWindow']],
    ['what ended before does not', { from: 7 * MINUTE, to: 7.5 * MINUTE }, []],
    ['one namespace', { namespace: 'mail' }, ['Advice']],
    ['one workload', { workload: 'Deployment/shop/cart' }, ['Refused', 'OutsideWindow']],
    ['one engine', { engine: 'rightsizing' }, ['Refused']],
    ['what was done or failed', { onlyDone: true }, ['Moved', 'Refused']],
  ])('%s', async (_, query, reasons) => {
    expect(askJournal(await night(), query).entries.map(({ reason }) => reason)).toEqual(reasons);
  });

  test('entries name their workload and engine; nothing was forgotten', async () => {
    expect(askJournal(await night(), { to: MINUTE })).toEqual({
      entries: [
        {
          workload: 'Deployment/shop/web',
          engine: 'placement',
          kind: 'done',
          reason: 'Moved',
          message: 'm',
          pod: 'pod-1',
          firstAt: MINUTE,
          lastAt: MINUTE,
          count: 1,
        },
      ],
      omitted: 0,
    });
  });

  test('of too many the newest are told, and how many are not', async () => {
    const clock = createVirtualClock(0);
    const journal = createJournal({ clock, maxEntries: MAX_TOLD + 3 });
    for (let index = 0; index < MAX_TOLD + 2; index++)
      journal.record('w', { kind: 'done', reason: 'R', message: `${index}` });
    const { entries, omitted } = askJournal(journal, {});
    expect([entries.length, entries[0]?.message, omitted]).toEqual([MAX_TOLD, '2', 2]);
  });

  test('what is no longer kept is told', async () => {
    const journal = createJournal({ clock: createVirtualClock(7), maxEntries: 1 });
    for (const reason of ['A', 'B']) journal.record('w', { kind: 'done', reason, message: '' });
    expect(askJournal(journal, {}).forgottenUntil).toBe(7);
  });
});
