/** Which pools the cloud has machines of, as a scenario's events close and open them. Closings may overlap: each ends for itself. */
import type { SimulatedPool } from './objects.ts';

export interface Market {
  /** In one zone, or in all. @returns what ends this closing, and none of the others. */
  close(pools: readonly SimulatedPool[], zone?: string): () => void;
  /** Ends the closings of these pools: those in one zone where it is named, else all. */
  open(pools: readonly SimulatedPool[], zone?: string): void;
  /** There is a pool of spot machines that is not closed as a whole. */
  isSpotAvailable(): boolean;
}

interface Closing {
  readonly pool: string;
  readonly zone: string | undefined;
}

/** @param setAvailability tells the cloud; to open a pool without naming a zone opens it in each. */
export function createMarket(
  pools: readonly SimulatedPool[],
  setAvailability: (pool: string, isAvailable: boolean, zone?: string) => void,
): Market {
  let lasting: readonly Closing[] = [];
  const isClosed = (pool: string): boolean => lasting.some((each) => each.pool === pool && each.zone === undefined);

  const set = (closings: readonly Closing[], changed: readonly SimulatedPool[]): void => {
    lasting = closings;
    for (const { name } of changed) {
      setAvailability(name, true);
      for (const { pool, zone } of lasting) if (pool === name) setAvailability(name, false, zone);
    }
  };

  return {
    close(changed, zone) {
      const own = changed.map(({ name }): Closing => ({ pool: name, zone }));
      set([...lasting, ...own], changed);
      return () =>
        set(
          lasting.filter((each) => !own.includes(each)),
          changed,
        );
    },
    open(changed, zone) {
      const isOpened = (closing: Closing): boolean =>
        changed.some(({ name }) => name === closing.pool) && (zone === undefined || zone === closing.zone);
      set(
        lasting.filter((each) => !isOpened(each)),
        changed,
      );
    },
    isSpotAvailable: () => pools.some(({ name, class: nodeClass }) => nodeClass === 'spot' && !isClosed(name)),
  };
}
