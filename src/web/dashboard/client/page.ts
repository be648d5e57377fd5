/** What a page of the dashboard is to whoever shows it. */
import type { DecisionTold } from '../answers.ts';
import type { Route } from './route.ts';

export interface Page {
  readonly title: string;
  readonly element: HTMLElement;
  /** Another address of the same page: other parameters. */
  show(route: Route): void;
  /** Asks the operator and draws what it says. @throws what {@link ask} throws. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Told of each decision as it is made, where the page wants that. */
  onDecision?(decision: DecisionTold): void;
}

/** Of whoever shows pages. */
export interface Host {
  /** To be refreshed soon, because the viewer asked for something else. */
  refresh(): void;
  /** To be refreshed as soon as may be, because something is newer than what is shown. May be told dozens of times a second. */
  news(): void;
  /** Changes the address without a new page. */
  replace(address: string): void;
}
