/** When a page is asked for again: every few seconds, at once for what the viewer wants, and soon where there is news of what it shows. */

export interface RefreshPace {
  /** Asks after this time, whatever was due: the last word counts, as while somebody types. */
  askIn(millis: number): void;
  /**
   * Something is newer than what is shown. There may be dozens a second of it: it puts nothing off, and what is asked
   * for already is waited for, or a burst would keep a page as it is for as long as it lasts.
   */
  news(): void;
  /** A question begins; nothing else is due. */
  began(): void;
  /** It has ended. @param millis until the next one; undefined: nobody looks. */
  ended(millis: number | undefined): void;
}

export interface RefreshPaceOptions {
  readonly ask: () => void;
  /** Calls back once. @returns how to take that back */
  readonly setTimer: (callback: () => void, millis: number) => () => void;
  /** From the first news to the question. */
  readonly soonMillis: number;
  /** From an answer to the next question, where there was news before it was there. */
  readonly apartMillis: number;
}

export function createRefreshPace({ ask, setTimer, soonMillis, apartMillis }: RefreshPaceOptions): RefreshPace {
  let cancel = (): void => {};
  let isAsking = false;
  /** Of what came after the question began. */
  let hasNews = false;
  /** What is due is due for news. */
  let isSoon = false;
  /** What is due was asked for by the viewer, perhaps while the answer to another question was awaited. */
  let isWanted = false;
  const set = (millis: number): void => {
    cancel();
    cancel = setTimer(ask, millis);
  };
  return {
    askIn(millis) {
      isSoon = false;
      isWanted = true;
      set(millis);
    },
    news() {
      if (isAsking) hasNews = true;
      else if (!isSoon && !isWanted) {
        isSoon = true;
        set(soonMillis);
      }
    },
    began() {
      cancel();
      isAsking = true;
      hasNews = false;
      isSoon = false;
      isWanted = false;
    },
    ended(millis) {
      isAsking = false;
      if (millis === undefined || isWanted) return;
      isSoon = hasNews;
      set(hasNews ? apartMillis : millis);
    },
  };
}
