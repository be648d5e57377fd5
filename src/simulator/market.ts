/** Which pools the cloud has machines of, as the scenario's events open and close them. */
import type { SimulatedPool } from './objects.ts';

export interface Market {
  set(changed: readonly SimulatedPool[], isOpen: boolean): void;
  isSpotAvailable(): boolean;
}

export function createMarket(pools: readonly SimulatedPool[]): Market {
  const closed = new Set<string>();
  return {
    set(changed: readonly SimulatedPool[], isOpen: boolean): void {
      for (const { name } of changed) {
        if (isOpen) closed.delete(name);
        else closed.add(name);
      }
    },
    isSpotAvailable: () => pools.some((pool) => pool.class === 'spot' && !closed.has(pool.name)),
  };
}
