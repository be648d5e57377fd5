/** `GET /journal`: what this process did, advised or left alone, between two instants. Read-only. */
import { type EngineName, engineNames, type Journal } from '../act/journal.ts';
import { askJournal, type JournalAnswer } from '../act/journal-query.ts';
import type { Leadership } from '../guard/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis } from '../lib/units.ts';
import { type Endpoint, jsonAnswer } from '../web/endpoint-server.ts';

export interface JournalEndpointOptions {
  readonly journal: Pick<Journal, 'all' | 'forgottenUntil'>;
  readonly leadership: () => Leadership;
  readonly clock: Clock;
}

/**
 * Parameters, each of which may be left out: `from` and `to` in milliseconds since 1970, `namespace`, `workload`
 * (`Deployment/shop/web`), `engine`, `done` (whatever its value: only what was done or failed).
 */
export function createJournalEndpoint({ journal, leadership, clock }: JournalEndpointOptions): Endpoint {
  return (query) => {
    const engine = query.get('engine');
    const known = engineNames.find((name) => name === engine);
    if (engine !== null && known === undefined) return refused('engine', engine, engineNames.join(', '));
    for (const name of ['from', 'to'] as const) {
      const text = query.get(name);
      if (text !== null && instantOf(text) === undefined) return refused(name, text, 'milliseconds since 1970');
    }
    return jsonAnswer(200, answer(query, known));
  };

  function answer(query: URLSearchParams, engine: EngineName | undefined): JournalAnswer {
    const { leader, sinceMillis } = leadership();
    const asked = {
      from: instantOf(query.get('from')),
      to: instantOf(query.get('to')),
      namespace: query.get('namespace') ?? undefined,
      workload: query.get('workload') ?? undefined,
      engine,
      onlyDone: query.has('done'),
    };
    return {
      at: clock.now(),
      isLeader: leader,
      ...(leader && { leadingSince: sinceMillis }),
      ...askJournal(journal, asked),
    };
  }
}

function instantOf(text: string | null): EpochMillis | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function refused(name: string, value: string, accepted: string) {
  const message = `${name} ${JSON.stringify(value)} is not valid; accepted: ${accepted}`;
  return jsonAnswer(400, { code: 'INVALID_QUERY', message });
}
