import { describe, expect, test } from 'vitest';
import { createJournal, journalOf } from '../act/journal.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createJournalEndpoint } from './journal-endpoint.ts';

const clock = createVirtualClock(10_000);
const journal = createJournal({ clock });
const entry = { kind: 'done', reason: 'EvictedForRebalance', message: 'moved' } as const;
journalOf(journal, 'placement').record('Deployment/shop/web', entry);
journalOf(journal, 'allocation').record('Deployment/mail/web', { ...entry, kind: 'blocked' });

async function ask(query: string, leader = true): Promise<{ readonly status: number; readonly body: unknown }> {
  const endpoint = createJournalEndpoint({ journal, clock, leadership: () => ({ leader, sinceMillis: 4_000 }) });
  const { status, body } = await endpoint(new URLSearchParams(query));
  return { status, body: JSON.parse(body) };
}

const told = { ...entry, firstAt: 10_000, lastAt: 10_000, count: 1 };
const web = { ...told, workload: 'Deployment/shop/web', engine: 'placement' };
const mail = { ...told, kind: 'blocked', workload: 'Deployment/mail/web', engine: 'allocation' };

describe('GET /journal', () => {
  test.each([
    ['', [web, mail]],
    ['from=10001', []],
    ['to=9999', []],
    ['from=10000&to=10000', [web, mail]],
    ['namespace=mail', [mail]],
    ['workload=Deployment%2Fshop%2Fweb', [web]],
    ['engine=allocation', [mail]],
    ['done=true', [web]],
  ])('%s', async (query, entries) => {
    const body = { at: 10_000, isLeader: true, leadingSince: 4_000, omitted: 0, entries };
    expect(await ask(query)).toEqual({ status: 200, body });
  });

  test('a follower says that it is one, and not since when', async () => {
    expect((await ask('', false)).body).toEqual({ at: 10_000, isLeader: false, omitted: 0, entries: [web, mail] });
  });

  test.each([
    ['from=yesterday', 'from "yesterday" is not valid; accepted: milliseconds since 1970'],
    ['to=-1', 'to "-1" is not valid; accepted: milliseconds since 1970'],
    ['to=1e3', 'to "1e3" is not valid; accepted: milliseconds since 1970'],
    ['engine=spot', 'engine "spot" is not valid; accepted: placement, rightsizing, allocation'],
  ])('%s is refused with what is accepted', async (query, message) => {
    expect(await ask(query)).toEqual({ status: 400, body: { code: 'INVALID_QUERY', message } });
  });
});
