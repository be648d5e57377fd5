/** The shape of a table that says how each kind of event is played. */
import type { ScenarioEvent } from '../scenario/events.ts';
import type { Scene } from './scene.ts';

type Events = { readonly [Event in ScenarioEvent as Event['do']]: Event };

export type EventKind = keyof Events;

/**
 * How the events of some kinds are played: begins at once, resolves when the event is over.
 * @throws where it cannot be played, in a sentence for who wrote the scenario
 */
export type EventPlayers<Kinds extends EventKind = EventKind> = {
  readonly [Kind in Kinds]: (event: Events[Kind], scene: Scene) => void | Promise<void>;
};

/** One event, by the entry of its kind. */
export function playEvent<Kind extends EventKind>(
  players: EventPlayers,
  event: Events[Kind] & { readonly do: Kind },
  scene: Scene,
): void | Promise<void> {
  return players[event.do](event, scene);
}
