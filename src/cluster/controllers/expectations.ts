/** What a controller has asked for but not yet seen in its cache, so that it does not ask twice on a stale view. */
import type { Clock } from '../../lib/clock.ts';

/** After this time missing observations are taken for lost. Source: pkg/controller `ExpectationsTimeout`. */
const TIMEOUT_MILLIS = 5 * 60_000;

interface Expectation {
  creations: number;
  readonly deletions: Set<string>;
  readonly sinceMillis: number;
}

/** By key of the controller's object. Source: pkg/controller/controller_utils.go `ControllerExpectations`. */
export interface Expectations {
  /** Replaces what was expected of `key`. `deletions` are pod uids. */
  expect(key: string, creations: number, deletions: readonly string[]): void;
  creationObserved(key: string): void;
  deletionObserved(key: string, uid: string): void;
  /** True when everything asked for was seen, or is overdue. */
  isSatisfied(key: string): boolean;
  forget(key: string): void;
}

export function createExpectations(clock: Clock): Expectations {
  const byKey = new Map<string, Expectation>();
  return {
    expect(key, creations, deletions) {
      byKey.set(key, { creations, deletions: new Set(deletions), sinceMillis: clock.now() });
    },
    creationObserved(key) {
      const expectation = byKey.get(key);
      if (expectation !== undefined) expectation.creations--;
    },
    deletionObserved(key, uid) {
      byKey.get(key)?.deletions.delete(uid);
    },
    isSatisfied(key) {
      const expectation = byKey.get(key);
      if (expectation === undefined) return true;
      if (expectation.creations <= 0 && expectation.deletions.size === 0) return true;
      return clock.now() - expectation.sinceMillis > TIMEOUT_MILLIS;
    },
    forget: (key) => {
      byKey.delete(key);
    },
  };
}
