/** An experiment in control groups that never ends by itself. */
import { findHierarchy } from '../../agent/cgroup/hierarchy.ts';
import { createMonotonicTime, createSystemClock } from '../../lib/clock.ts';
import { createKernelSubstrate } from '../kernel/kernel-substrate.ts';

const hierarchy = findHierarchy('/sys/fs/cgroup');
if (typeof hierarchy === 'string') throw new Error(hierarchy);
const HOUR = 3_600_000;
const substrate = createKernelSubstrate({
  hierarchy,
  lengthMillis: HOUR,
  clock: createSystemClock(),
  monotonicMillis: createMonotonicTime(),
});
const load = { kind: 'spin', threads: 1 } as const;
await substrate.start(
  { name: 'hog', load, request: 100, claim: 10, weight: 1, isBatch: true },
  { request: 100, limit: 100 },
  1,
);
await substrate.runUntil(0);
process.stdout.write('running\n');
await substrate.runUntil(HOUR);
