/** A sampler on a fake tree, with its time in the test's hand. */
import type { Logger } from '../../lib/log.ts';
import { createFileReader } from '../cgroup/file-reader.ts';
import { createSampler, type Sampler, type TrackedPod } from '../sampler.ts';
import type { FakePod, FakeTree } from './fake-tree.ts';

export interface Sampling {
  readonly sampler: Sampler;
  /** Sentences logged as warnings, oldest first. */
  readonly warnings: string[];
  /** How many files it holds open. */
  openFiles(): number;
  /** Lets so many milliseconds pass and samples. */
  step(millis?: number): void;
  /** From now on samples are to come at this pace, for windows of this length at most. */
  pace(millis: number, longestWindow?: number): void;
}

export function createSampling(tree: Pick<FakeTree, 'mount' | 'proc'>): Sampling {
  let now = 0;
  let intervalMillis = 1000;
  let longestWindowMillis = 60_000;
  const files = createFileReader();
  const warnings: string[] = [];
  const log: Logger = {
    debug: () => {},
    info: () => {},
    warn: (_fields, message) => warnings.push(message),
    error: (_fields, message) => warnings.push(message),
    child: () => log,
  };
  const sampler = createSampler({
    mount: tree.mount,
    proc: tree.proc,
    files,
    monotonic: () => now,
    log,
    intervalMillis: () => intervalMillis,
    longestWindowMillis: () => longestWindowMillis,
  });
  return {
    sampler,
    warnings,
    openFiles: () => files.size,
    pace(millis, longestWindow = longestWindowMillis) {
      intervalMillis = millis;
      longestWindowMillis = longestWindow;
    },
    step(millis = 1000) {
      now += millis;
      sampler.sample();
    },
  };
}

export function tracked(pod: FakePod): TrackedPod {
  return {
    groupUid: pod.uid,
    label: `default/${pod.uid.slice(-3)}`,
    containers: Object.entries(pod.containers).map(([name, id]) => ({ name, id })),
  };
}
