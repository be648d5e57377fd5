/** What the wiring gives to every engine, whatever it decides. */
import type { EventSink } from '../act/events.ts';
import type { EngineJournal } from '../act/journal.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';

/** One of each in a process, so that events are merged and metrics named across engines. */
export interface EngineParts {
  readonly events: EventSink;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
