/** Events of rightsizing, on workloads and policies: OptiPod's reasons, with names, cause and a suggestion. */
import type { Clock } from '../lib/clock.ts';
import { createEvents, type EventSink, type Events } from './events.ts';

export type RightsizingEvents = Pick<Events, 'onWorkload' | 'onPolicy' | 'forget'>;

export function createRightsizingEvents(sink: EventSink, clock: Clock): RightsizingEvents {
  return createEvents(sink, clock, 'Rightsize');
}
