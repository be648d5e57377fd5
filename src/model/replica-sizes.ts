/**
 * The sizes that replicas have each for itself, in place of the one of all: kept in an annotation of the workload, as
 * the size of all is, and for the same readers (applied-sizes.ts). Whatever of it is unknown, damaged or contradicts the
 * template counts as not there: such a replica has the size of all.
 */
import { isRecord } from '../lib/is-record.ts';
import { pastTime } from '../lib/past-time.ts';
import { isInstant } from '../lib/rfc3339.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { WorkloadRef } from './cluster-view.ts';
import { isNewerFormat } from './kept-format.ts';
import {
  FLOOR_MILLIS,
  type LearnedFloor,
  type Lessons,
  lessonsBody,
  noLessons,
  readLessonsBody,
} from './learned-floors.ts';
import { sizeKeys } from './pod-size.ts';
import type { PodRecord } from './records.ts';
import { MAX_SIZED_REPLICAS, replicaOf } from './replica.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';

/** By container; of every container of the template. */
export type SizesByContainer = ReadonlyMap<string, ContainerSize>;

export interface ReplicaState {
  readonly sizes: SizesByContainer;
  /** When it was last changed; undefined: it has what all had when it was first known. */
  readonly changedAt: EpochMillis | undefined;
  /** What it had before a decrease that is being watched. */
  readonly before: SizesByContainer | undefined;
  readonly lessons: Lessons;
}

/** By replica; see `replicaOf`. */
export type ReplicaStates = ReadonlyMap<string, ReplicaState>;

export const noReplicas: ReplicaStates = new Map<string, never>();

/** All annotations of an object share 256 KiB. */
const MAX_CHARACTERS = 100_000;
/** For what replicas learn, some hundred floors. */
const LESSONS_CHARACTERS = 10_000;

/** Of a replica that goes its own way from now on, from what it has. @param floors what did harm to all of them. */
export function freshState(
  inForce: readonly ContainerSpecRecord[],
  floors: readonly LearnedFloor[] = [],
): ReplicaState {
  return { sizes: sizesOf(inForce), changedAt: undefined, before: undefined, lessons: { floors, reverts: 0 } };
}

/** When decreases of this one did harm; undefined: none has, and its floors are of when all had one size. */
export function harmedAt({ lessons: { floors, reverts } }: Pick<ReplicaState, 'lessons'>): EpochMillis | undefined {
  if (reverts === 0 || floors.length === 0) return undefined;
  return Math.max(...floors.map(({ until }) => until - FLOOR_MILLIS));
}

/** Of the pod's replica; undefined: it has the size of all. */
export function stateOfPod(
  states: ReplicaStates,
  workload: Pick<WorkloadRef, 'kind' | 'name'>,
  pod: Pick<PodRecord, 'name' | 'nodeName'>,
): ReplicaState | undefined {
  return states.get(replicaOf(workload, pod) ?? '');
}

/**
 * The text of the annotation; undefined where no replica has a size of its own, or it would take too much room. What
 * they have learned is left out before that.
 */
export function writeReplicaSizes(
  template: readonly ContainerSpecRecord[],
  replicas: ReplicaStates,
): string | undefined {
  if (replicas.size === 0 || replicas.size > MAX_SIZED_REPLICAS) return undefined;
  const unlearned = (): ReplicaStates =>
    new Map([...replicas].map(([replica, state]) => [replica, { ...state, lessons: noLessons }]));
  const text = textOf(template, replicas);
  const shorter = text.length > MAX_CHARACTERS ? textOf(template, unlearned()) : text;
  return shorter.length > MAX_CHARACTERS ? undefined : shorter;
}

function textOf(template: readonly ContainerSpecRecord[], replicas: ReplicaStates): string {
  const entries = [...replicas].map(([replica, { sizes, changedAt, before, lessons }]) => [
    replica,
    {
      size: sizesBody(sizes),
      ...(changedAt !== undefined && { at: changedAt }),
      ...(before !== undefined && { before: sizesBody(before) }),
      ...lessonsBody(lessons),
    },
  ]);
  return JSON.stringify({ template: sizesBody(sizesOf(template)), replicas: Object.fromEntries(entries) });
}

/** Of these replicas, the first for whose sizes there is room, also while each is watched with less. */
export function thatFit(
  template: readonly ContainerSpecRecord[],
  replicas: readonly string[],
  now: EpochMillis,
): readonly string[] {
  const sizes = sizesOf(template);
  const watched: ReplicaState = { sizes, changedAt: now, before: sizes, lessons: noLessons };
  const around = textOf(template, noReplicas).length;
  const each = textOf(template, new Map([['', watched]])).length - around + ','.length;
  let left = MAX_CHARACTERS - LESSONS_CHARACTERS - around;
  const count = replicas.findIndex((replica, index) => {
    left -= each + replica.length;
    return left < 0 || index === MAX_SIZED_REPLICAS;
  });
  return count < 0 ? replicas : replicas.slice(0, count);
}

/**
 * Reads the annotation.
 * @param template of today: whoever edits the sizes in it means what he writes, so nothing of before counts.
 * @param now floors that have expired by then are left out, and times of the future are none of ours: believed, they
 * would hold back every change until then. Left out: for whoever asks for the sizes alone.
 */
export function readReplicaSizes(
  text: string | undefined,
  template: readonly ContainerSpecRecord[],
  now?: EpochMillis,
): ReplicaStates {
  const value = text === undefined ? undefined : tryParseJson(text);
  if (!isRecord(value) || isNewerFormat(value) || !isRecord(value['replicas'])) return noReplicas;
  const names = template.map(({ name }) => name);
  const of = readSizes(value['template'], names);
  if (of === undefined || !isSameSizes(of, sizesOf(template))) return noReplicas;
  const states = new Map<string, ReplicaState>();
  for (const [replica, entry] of Object.entries(value['replicas']).slice(0, MAX_SIZED_REPLICAS)) {
    const state = readState(entry, template, names, now);
    if (state !== undefined) states.set(replica, state);
  }
  return states;
}

/** The containers with the sizes of this replica; with those they have where it has none of its own. */
export function withReplicaSizes(
  containers: readonly ContainerSpecRecord[],
  state: Pick<ReplicaState, 'sizes'> | undefined,
): readonly ContainerSpecRecord[] {
  if (state === undefined) return containers;
  return containers.map((container) => {
    const size = state.sizes.get(container.name);
    return size === undefined ? container : { ...container, size };
  });
}

export function sizesOf(containers: readonly ContainerSpecRecord[]): SizesByContainer {
  return new Map(containers.map(({ name, size }) => [name, size]));
}

/** For each amount the most that the containers or one of the replicas have. */
export function mostOfAll(
  containers: readonly ContainerSpecRecord[],
  replicas: ReadonlyMap<string, Pick<ReplicaState, 'sizes'>>,
): readonly ContainerSpecRecord[] {
  return containers.map((container) => {
    const size: { -readonly [Key in keyof ContainerSize]: number } = { ...container.size };
    for (const { sizes } of replicas.values()) {
      const own = sizes.get(container.name) ?? {};
      for (const key of sizeKeys) {
        const amount = own[key];
        if (amount !== undefined) size[key] = Math.max(amount, size[key] ?? 0);
      }
    }
    return { ...container, size };
  });
}

export function isSameSizes(one: SizesByContainer, other: SizesByContainer): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([name, size]) => {
    const own = other.get(name);
    return own !== undefined && sizeKeys.every((key) => size[key] === own[key]);
  });
}

function readState(
  entry: unknown,
  template: readonly ContainerSpecRecord[],
  names: readonly string[],
  now: EpochMillis | undefined,
): ReplicaState | undefined {
  if (!isRecord(entry)) return undefined;
  const possible = (value: unknown): SizesByContainer | undefined => {
    const read = readSizes(value, names);
    return read && template.every((container) => isOfTemplate(container, read.get(container.name))) ? read : undefined;
  };
  const sizes = possible(entry['size']);
  if (sizes === undefined) return undefined;
  const { at, before } = entry;
  return {
    sizes,
    changedAt: isInstant(at) ? pastTime(at, now ?? at) : undefined,
    before: possible(before),
    lessons: entry['floors'] === undefined ? noLessons : readLessonsBody(entry, now ?? 0),
  };
}

/** No amount that the template has can be taken away in place, and no request is above its limit. */
function isOfTemplate({ size: template }: ContainerSpecRecord, size: ContainerSize | undefined): boolean {
  if (size === undefined || sizeKeys.some((key) => template[key] !== undefined && size[key] === undefined))
    return false;
  // A limit that the template lacks would be a bound that nobody asked for.
  if (size.cpuLimit !== undefined && template.cpuLimit === undefined) return false;
  if (size.memoryLimit !== undefined && template.memoryLimit === undefined) return false;
  const { cpuRequest = 0, cpuLimit = cpuRequest, memoryRequest = 0, memoryLimit = memoryRequest } = size;
  return cpuRequest <= cpuLimit && memoryRequest <= memoryLimit;
}

/** `{"app":[200,null,134217728,null]}`, in the order of `sizeKeys`. */
function sizesBody(sizes: SizesByContainer): Readonly<Record<string, readonly (number | null)[]>> {
  return Object.fromEntries([...sizes].map(([name, size]) => [name, sizeKeys.map((key) => size[key] ?? null)]));
}

/** Undefined where it is not a size of exactly these containers. */
function readSizes(value: unknown, names: readonly string[]): SizesByContainer | undefined {
  if (!isRecord(value) || Object.keys(value).length !== names.length) return undefined;
  const sizes = new Map<string, ContainerSize>();
  for (const name of names) {
    const amounts = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!Array.isArray(amounts) || amounts.length !== sizeKeys.length || !amounts.every(isAmount)) return undefined;
    const set = sizeKeys.flatMap((key, index) => {
      const amount = amounts[index];
      return typeof amount === 'number' ? [[key, amount] as const] : [];
    });
    sizes.set(name, Object.fromEntries(set));
  }
  return sizes;
}

function isAmount(value: unknown): boolean {
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}
