/** Waits in real time, for sockets, files and processes: as long as the busiest machine needs, looking so often that an idle one loses nothing. */
import { vi } from 'vitest';

const PATIENCE = { timeout: 60_000, interval: 10 };

/** @returns what `attempt` gives once it does not throw; its last error after a minute. */
export function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(attempt, PATIENCE);
}
