/**
 * Samples the CPU counters of this node's pods and containers, and of the node itself, into rings that readers take
 * windows of.
 */
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import { createGroupReader, type GroupReader } from './cgroup/counters.ts';
import type { FileReader } from './cgroup/file-reader.ts';
import { findHierarchy, type Hierarchy } from './cgroup/hierarchy.ts';
import { createPodFolders, type PodFolders } from './cgroup/pod-folders.ts';
import { type FollowedGroup, followGroup, type GroupUse, noteMissing, readGroup, useOf } from './followed-group.ts';
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
  /** Between two samples; it may change. */
  readonly intervalMillis: () => Millis;
  /** Longest window any reader asks for; it may change. */
  readonly longestWindowMillis: () => Millis;
}

/** Missing pods are looked for below known roots at once, then everywhere, with pauses that grow up to this one. */
const LONGEST_SEARCH_PAUSE_MILLIS = 30_000;

interface FollowedPod extends FollowedGroup {
  readonly tracked: Pick<TrackedPod, 'groupUid' | 'label'>;
  readonly containers: Map<string, FollowedGroup & { readonly name: string }>;
}

/** What there is to read. */
interface Mounted {
  readonly hierarchy: Hierarchy;
  readonly groups: GroupReader;
  readonly folders: PodFolders;
  readonly node: ReturnType<typeof createNodeUse>;
}

export function createSampler(options: SamplerOptions): Sampler {
  const { mount, proc, files, monotonic, log } = options;
  /** Of rings: so many that the longest window is never cut short. */
  const wanted = (): number => Math.ceil(options.longestWindowMillis() / options.intervalMillis()) + 2;
  let capacity = wanted();
  const pods = new Map<string, FollowedPod>();
  const known = new Set<string>();
  const pace = createSearchPace(options.intervalMillis());
  /** A sentence where nothing can be read. */
  const find = (): Mounted | string => {
    const hierarchy = findHierarchy(mount);
    if (typeof hierarchy === 'string') return hierarchy;
    const groups = createGroupReader(hierarchy, files);
    const node = createNodeUse({ groups, files, proc, capacity });
    return { hierarchy, groups, folders: createPodFolders(hierarchy.cpu), node };
  };
  let found = find();
  let samples = 0;
  let isReading = false;
  const mounted = (): Mounted | undefined => (typeof found === 'string' ? undefined : found);
  const groups = (): GroupReader | undefined => mounted()?.groups;

  /** The pod first: its containers' groups lie in its own. */
  const samplePod = (pod: FollowedPod, { groups: reader, folders }: Mounted, now: Millis): void => {
    const { label, groupUid } = pod.tracked;
    const missing = (what: string) => () => `${what} has no control group below ${mount}; its CPU is not measured`;
    pod.path ??= folders.pod(groupUid);
    if (pod.path === undefined) noteMissing(pod, now, missing(`pod ${label}`));
    else if (readGroup(pod, reader, now)) isReading = true;
    // That of a container is asked for beside others only, see `measure`; alone it is its pod.
    const hasPressure = pod.containers.size > 1;
    for (const [id, container] of pod.containers) {
      if (pod.path !== undefined) container.path ??= folders.container(pod.path, id);
      if (container.path === undefined) noteMissing(container, now, missing(`container ${label}/${container.name}`));
      else readGroup(container, reader, now, hasPressure);
    }
  };
  /** A pod without a group is looked for: it may be new, or the roots may have moved. */
  const search = (folders: PodFolders, now: Millis): void => {
    const isMissing = [...pods.values()].some(({ path }) => path === undefined);
    if (!isMissing) pace.rest();
    const where = isMissing ? pace.next(now) : undefined;
    if (where !== undefined) folders.refresh(where);
  };
  const problems = (): string[] => {
    if (typeof found === 'string') return [found];
    const sentences: string[] = [];
    for (const pod of pods.values()) {
      if (pod.problem !== undefined) sentences.push(pod.problem);
      for (const { problem } of pod.containers.values()) if (problem !== undefined) sentences.push(problem);
    }
    return sentences;
  };
  /** Each sentence is logged once when it appears. */
  const report = (): void => {
    const now = new Set(problems());
    for (const sentence of now) if (!known.has(sentence)) log.warn({}, sentence);
    known.clear();
    for (const sentence of now) known.add(sentence);
  };
  const forget = ({ path }: FollowedGroup): void => {
    if (path !== undefined) groups()?.forget(path);
  };
  const follow = ({ name, id }: TrackedPod['containers'][number]) => [id, { ...followGroup(capacity), name }] as const;
  /** Other nodes may share this machine, as with kind: only roots that hold pods of ours count. */
  const rootsInUse = ({ folders }: Mounted): readonly string[] => {
    const paths = [...pods.values()].flatMap(({ path }) => (path === undefined ? [] : [path]));
    return folders.roots().filter((root) => paths.some((path) => path.startsWith(`${root}/`)));
  };

  const grow = (): void => {
    if (wanted() <= capacity) return;
    capacity = wanted();
    for (const pod of pods.values()) for (const { ring } of [pod, ...pod.containers.values()]) ring.grow(capacity);
    mounted()?.node.grow(capacity);
  };

  return {
    track(tracked) {
      const wanted = new Set(tracked.map(({ groupUid }) => groupUid));
      for (const [uid, pod] of pods) {
        if (wanted.has(uid)) continue;
        forget(pod);
        pods.delete(uid);
      }
      for (const each of tracked) {
        const pod = pods.get(each.groupUid);
        if (pod === undefined) {
          const containers = new Map(each.containers.map(follow));
          pods.set(each.groupUid, { ...followGroup(capacity), tracked: each, containers });
          pace.hurry();
          continue;
        }
        const present = new Set(each.containers.map(({ id }) => id));
        for (const [id, container] of pod.containers) {
          if (present.has(id)) continue;
          forget(container);
          pod.containers.delete(id);
        }
        for (const container of each.containers)
          if (!pod.containers.has(container.id)) pod.containers.set(...follow(container));
      }
    },
    sample() {
      // A mount that comes late, as when the folder is prepared by another container, is taken up.
      if (typeof found === 'string') found = find();
      grow();
      const now = monotonic();
      isReading = false;
      if (typeof found !== 'string') {
        search(found.folders, now);
        for (const pod of pods.values()) samplePod(pod, found, now);
        found.node.sample(now, rootsInUse(found));
      }
      samples++;
      report();
    },
    pod(groupUid) {
      const pod = pods.get(groupUid);
      if (pod === undefined) return undefined;
      return {
        ...useOf(pod, groups),
        container(name) {
          const container = [...pod.containers.values()].find((each) => each.name === name);
          return container && useOf(container, groups);
        },
      };
    },
    node: (spanMillis) => mounted()?.node.use(spanMillis) ?? { total: undefined, pods: undefined, system: undefined },
    problems,
    isReading: () => isReading,
    get samples() {
      return samples;
    },
    describe() {
      if (typeof found === 'string') return 'no control groups';
      const { version, cpu } = found.hierarchy;
      return `cgroup v${version} at ${cpu}, pods below ${rootsInUse(found).join(', ') || 'no folder yet'}`;
    },
    close: () => files.close(),
  };
}

/** When groups that are missing are looked for: at once, then with growing pauses. */
function createSearchPace(firstMillis: Millis) {
  let pauseMillis = 0;
  let nextMillis = 0;
  return {
    rest(): void {
      pauseMillis = 0;
    },
    /** A new pod is worth a look at once, however long the others have been missing. */
    hurry(): void {
      pauseMillis = 0;
      nextMillis = 0;
    },
    /** Where to look; undefined: not yet. */
    next(now: Millis): 'known-roots' | 'everywhere' | undefined {
      if (now < nextMillis) return undefined;
      const isFirst = pauseMillis === 0;
      pauseMillis = Math.min(LONGEST_SEARCH_PAUSE_MILLIS, isFirst ? firstMillis : pauseMillis * 2);
      nextMillis = now + pauseMillis;
      return isFirst ? 'known-roots' : 'everywhere';
    },
  };
}
