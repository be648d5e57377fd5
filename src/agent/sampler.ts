/**
 * Samples the CPU counters of this node's pods and containers, and of the node itself, into rings that readers take
 * windows of.
 */
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import { type CounterRing, type CpuWindow, createCounterRing } from './cgroup/counter-ring.ts';
import { type CpuSettings, createGroupReader, type GroupReader } from './cgroup/counters.ts';
import type { FileReader } from './cgroup/file-reader.ts';
import { findHierarchy, type Hierarchy } from './cgroup/hierarchy.ts';
import { createPodFolders, type PodFolders } from './cgroup/pod-folders.ts';
import { createNodeUse, type NodeUse } from './node-use.ts';

/** A pod to follow. */
export interface TrackedPod {
  /** As in its group's name: the uid, or for static pods the hash of their file. */
  readonly groupUid: string;
  /** `namespace/name`, for messages. */
  readonly label: string;
  /** Containers that have an id now. */
  readonly containers: readonly { readonly name: string; readonly id: string }[];
}

/** What is known of a pod or container; a pod's own figures include its containers and what the runtime uses for it. */
export interface GroupUse {
  window(spanMillis: Millis): CpuWindow | undefined;
  settings(): CpuSettings | undefined;
  /** When it was last read, by the sampler's clock; undefined before that. */
  lastMillis(): Millis | undefined;
}

/** A pod and, by name, its containers that run now. */
export interface PodUse extends GroupUse {
  container(name: string): GroupUse | undefined;
}

/** Reads synchronously: some hundred small kernel files a second, each in microseconds. */
export interface Sampler {
  /** The pods to follow from now on; others are forgotten. */
  track(pods: readonly TrackedPod[]): void;
  /** Reads everything once. Never throws. */
  sample(): void;
  pod(groupUid: string): PodUse | undefined;
  /** Use of the whole node and of all pods. */
  node(spanMillis: Millis): NodeUse;
  /** What cannot be read, one sentence each; empty while all is well. */
  problems(): readonly string[];
  /** Whether any pod's counters were read in the newest sample. */
  isReading(): boolean;
  /** Samples taken. */
  readonly samples: number;
  /** For health: version, trees and roots found. */
  describe(): string;
  close(): void;
}

export interface SamplerOptions {
  /** Where control groups are mounted. */
  readonly mount: string;
  /** `/proc`, or the host's where it is mounted. */
  readonly proc: string;
  readonly files: FileReader;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => Millis;
  readonly log: Logger;
  readonly intervalMillis: Millis;
  /** Longest window any reader asks for. */
  readonly longestWindowMillis: Millis;
}

/** Looks below known roots at once when a pod is missing, then with growing pauses, up to this one. */
const LONGEST_SEARCH_PAUSE_MILLIS = 30_000;
/** A pod that has started but a moment ago may not have a group yet. */
const MISSING_GRACE_MILLIS = 30_000;

interface Followed {
  readonly ring: CounterRing;
  path: string | undefined;
  missingSince: Millis | undefined;
  problem: string | undefined;
}

interface FollowedPod extends Followed {
  tracked: TrackedPod;
  readonly containers: Map<string, Followed & { readonly name: string }>;
}

export function createSampler(options: SamplerOptions): Sampler {
  const { mount, files, monotonic, log, intervalMillis } = options;
  const capacity = Math.ceil(options.longestWindowMillis / intervalMillis) + 2;
  const pods = new Map<string, FollowedPod>();
  const known = new Set<string>();
  let hierarchy = findHierarchy(mount);
  let parts = typeof hierarchy === 'string' ? undefined : partsOf(hierarchy);
  let samples = 0;
  let isReading = false;
  let searchPauseMillis = 0;
  let nextSearchMillis = 0;

  function partsOf(found: Hierarchy): {
    groups: GroupReader;
    folders: PodFolders;
    node: ReturnType<typeof createNodeUse>;
  } {
    const groups = createGroupReader(found, files);
    return {
      groups,
      folders: createPodFolders(found.cpu),
      node: createNodeUse({ groups, files, proc: options.proc, capacity }),
    };
  }
  const follow = (): Followed => ({
    ring: createCounterRing(capacity),
    path: undefined,
    missingSince: undefined,
    problem: undefined,
  });
  /** Its group went away: files are closed, and what was counted belongs to another one. */
  const lose = (one: Followed, now: Millis): void => {
    if (one.path !== undefined) parts?.groups.forget(one.path);
    one.path = undefined;
    one.ring.reset();
    one.missingSince ??= now;
  };
  /** @returns whether the group was read. */
  const read = (one: Followed, now: Millis): boolean => {
    if (parts === undefined || one.path === undefined) return false;
    const reading = parts.groups.counters(one.path);
    if (reading.ok) {
      one.ring.push(now, reading.value);
      one.missingSince = undefined;
      one.problem = undefined;
      return true;
    }
    if (reading.why === 'gone') lose(one, now);
    else one.problem = reading.message;
    return false;
  };
  /** Told only after a while: pods are known to the API before they have a group. */
  const noteMissing = (one: Followed, what: string, now: Millis): void => {
    one.missingSince ??= now;
    if (now - one.missingSince >= MISSING_GRACE_MILLIS)
      one.problem = `${what} has no control group below ${mount}; its CPU is not measured`;
  };
  /** The pod first: its containers' groups lie in its own. */
  const samplePod = (pod: FollowedPod, folders: PodFolders, now: Millis): void => {
    pod.path ??= folders.pod(pod.tracked.groupUid);
    if (pod.path === undefined) noteMissing(pod, `pod ${pod.tracked.label}`, now);
    else if (read(pod, now)) isReading = true;
    for (const [id, container] of pod.containers) {
      if (pod.path !== undefined) container.path ??= folders.container(pod.path, id);
      else if (container.path !== undefined) lose(container, now);
      if (container.path === undefined) noteMissing(container, `container ${pod.tracked.label}/${container.name}`, now);
      else read(container, now);
    }
  };
  /** A pod without a group is looked for: it may be new, or the roots may have moved. */
  const search = (now: Millis): void => {
    const isMissing = [...pods.values()].some(({ path }) => path === undefined);
    if (!isMissing) {
      searchPauseMillis = 0;
      return;
    }
    if (now < nextSearchMillis) return;
    const isFirst = searchPauseMillis === 0;
    parts?.folders.refresh(isFirst ? 'known-roots' : 'everywhere');
    searchPauseMillis = Math.min(LONGEST_SEARCH_PAUSE_MILLIS, isFirst ? intervalMillis : searchPauseMillis * 2);
    nextSearchMillis = now + searchPauseMillis;
  };
  const problems = (): string[] => {
    if (typeof hierarchy === 'string') return [hierarchy];
    return [...pods.values()].flatMap((pod) =>
      [pod, ...pod.containers.values()].flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
    );
  };
  /** Each sentence is logged once when it appears. */
  const report = (): void => {
    const now = new Set(problems());
    for (const sentence of now) if (!known.has(sentence)) log.warn({}, sentence);
    known.clear();
    for (const sentence of now) known.add(sentence);
  };
  const useOf = (one: Followed): GroupUse => ({
    window: (spanMillis) => one.ring.window(spanMillis),
    settings() {
      const reading = one.path === undefined ? undefined : parts?.groups.settings(one.path);
      return reading?.ok === true ? reading.value : undefined;
    },
    lastMillis: () => one.ring.lastMillis,
  });

  return {
    track(tracked) {
      const wanted = new Set(tracked.map(({ groupUid }) => groupUid));
      for (const [uid, pod] of pods) {
        if (wanted.has(uid)) continue;
        if (pod.path !== undefined) parts?.groups.forget(pod.path);
        pods.delete(uid);
      }
      for (const each of tracked) {
        const pod = pods.get(each.groupUid);
        if (pod === undefined) {
          pods.set(each.groupUid, { ...follow(), tracked: each, containers: containersOf(each) });
          // A new pod is worth a look at once, however long the others have been missing.
          searchPauseMillis = 0;
          nextSearchMillis = 0;
          continue;
        }
        pod.tracked = each;
        const present = new Set(each.containers.map(({ id }) => id));
        for (const [id, container] of pod.containers) {
          if (present.has(id)) continue;
          if (container.path !== undefined) parts?.groups.forget(container.path);
          pod.containers.delete(id);
        }
        for (const { name, id } of each.containers)
          if (!pod.containers.has(id)) pod.containers.set(id, { ...follow(), name });
      }
    },
    sample() {
      // A mount that comes late, as when the folder is prepared by another container, is taken up.
      if (parts === undefined) {
        hierarchy = findHierarchy(mount);
        if (typeof hierarchy !== 'string') parts = partsOf(hierarchy);
      }
      const now = monotonic();
      isReading = false;
      if (parts !== undefined) {
        search(now);
        for (const pod of pods.values()) samplePod(pod, parts.folders, now);
        parts.node.sample(now, rootsInUse());
      }
      samples++;
      report();
    },
    pod(groupUid) {
      const pod = pods.get(groupUid);
      if (pod === undefined) return undefined;
      return {
        ...useOf(pod),
        container(name) {
          const container = [...pod.containers.values()].find((each) => each.name === name);
          return container === undefined ? undefined : useOf(container);
        },
      };
    },
    node: (spanMillis) => parts?.node.use(spanMillis) ?? { total: undefined, pods: undefined, system: undefined },
    problems,
    isReading: () => isReading,
    get samples() {
      return samples;
    },
    describe() {
      if (parts === undefined || typeof hierarchy === 'string') return 'no control groups';
      return `cgroup v${hierarchy.version} at ${hierarchy.cpu}, pods below ${rootsInUse().join(', ') || 'no folder yet'}`;
    },
    close: () => files.close(),
  };

  function containersOf(tracked: TrackedPod): FollowedPod['containers'] {
    return new Map(tracked.containers.map(({ name, id }) => [id, { ...follow(), name }]));
  }
  /** Other nodes may share this machine, as with kind: only roots that hold pods of ours count. */
  function rootsInUse(): readonly string[] {
    const paths = [...pods.values()].flatMap(({ path }) => (path === undefined ? [] : [path]));
    return parts?.folders.roots().filter((root) => paths.some((path) => path.startsWith(`${root}/`))) ?? [];
  }
}
