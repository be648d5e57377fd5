/** Keys that wait for a worker, each once, the highest priority first. */
import type { EpochMillis } from '../lib/units.ts';

export interface Ready {
  readonly priority: number;
  /** When the key was added first. */
  readonly sinceMillis: EpochMillis;
}

export interface Taken extends Ready {
  readonly key: string;
}

export interface ReadyKeys {
  readonly size: number;
  get(key: string): Ready | undefined;
  /** Of a key that waits already only a higher priority changes anything. @returns whether it did. */
  put(key: string, wanted: Ready): boolean;
  /** The first come of the highest priority that has any. */
  take(): Taken | undefined;
}

export function createReadyKeys(): ReadyKeys {
  /** By priority; a Set keeps the order of arrival. */
  const lanes = new Map<number, Set<string>>();
  const ready = new Map<string, Ready>();
  return {
    get size() {
      return ready.size;
    },
    get: (key) => ready.get(key),
    put(key, { priority, sinceMillis }) {
      const current = ready.get(key);
      if (current !== undefined && current.priority >= priority) return false;
      if (current !== undefined) lanes.get(current.priority)?.delete(key);
      ready.set(key, { priority, sinceMillis: current?.sinceMillis ?? sinceMillis });
      const lane = lanes.get(priority) ?? new Set();
      lanes.set(priority, lane.add(key));
      return true;
    },
    take() {
      for (const [priority, lane] of lanes) if (lane.size === 0) lanes.delete(priority);
      const lane = lanes.get(Math.max(...lanes.keys()));
      const [key] = lane ?? [];
      const taken = key === undefined ? undefined : ready.get(key);
      if (key === undefined || taken === undefined) return undefined;
      lane?.delete(key);
      ready.delete(key);
      return { key, ...taken };
    },
  };
}
