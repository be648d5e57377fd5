/**
 * The record of a pod in half of the memory of a plain one: replicas differ in little but their names and times. The
 * rest of their state is one interned value for all pods that share it.
 */

import { type PackedInstant, packInstant, unpackInstant } from '../lib/packed-instant.ts';
import { packUuid, unpackUuid } from '../lib/packed-uuid.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { PodRecord } from '../model/records.ts';
import { createInterner } from './intern.ts';
import { type SizingParts, sizingOfParts, sizingParts } from './sizing/compact-pod-sizing.ts';

/** What few pods have, or thousands alike. */
type PodState = Pick<
  PodRecord,
  | 'namespace'
  | 'phase'
  | 'ready'
  | 'unschedulableSince'
  | 'deletingAt'
  | 'evictedAt'
  | 'capacity'
  | 'unconfirmed'
  | 'fallback'
  | 'pinned'
  | 'deletionCost'
  | 'protectedBy'
  | 'resizing'
>;

/** A class for its prototype: what is shared costs nothing per pod. A spread copies none of it. */
class CompactPod implements PodRecord {
  readonly uid: string;
  readonly name: string;
  readonly owner: PodRecord['owner'];
  readonly template: PodRecord['template'];
  readonly nodeName: string | undefined;
  readonly slot: number | undefined;
  readonly claims: readonly string[];
  /**
   * A number where that says it all: versions are decimal in practice (KEP-5504), and a number of 31 bits costs
   * nothing.
   */
  readonly #version: string | number;
  readonly #createdAt: PackedInstant;
  readonly #readyChangedAt: PackedInstant;
  readonly #admissionId: string | undefined;
  readonly #state: PodState;
  /** The parts of a compact one side by side: as a record of its own it would be 56 bytes more of each pod. */
  readonly #sizing: SizingParts['common'] | PodRecord['sizing'];
  readonly #startedAt: SizingParts['startedAt'];
  readonly #ownCpu: SizingParts['ownCpu'];
  readonly #generation: number;

  constructor(pod: PodRecord, state: PodState, before: PodRecord | undefined) {
    const version = Number(pod.resourceVersion);
    this.uid = sameText(pod.uid, before?.uid);
    this.name = sameText(pod.name, before?.name);
    this.owner = pod.owner;
    this.template = pod.template;
    this.nodeName = pod.nodeName;
    this.slot = pod.slot;
    this.claims = pod.claims;
    this.#version = String(version) === pod.resourceVersion ? version : pod.resourceVersion;
    this.#createdAt = packInstant(pod.createdAt);
    this.#readyChangedAt = packInstant(pod.readyChangedAt);
    this.#admissionId = pod.admissionId === undefined ? undefined : packUuid(pod.admissionId);
    this.#state = state;
    const parts = pod.sizing && sizingParts(pod.sizing);
    this.#sizing = parts?.common ?? pod.sizing;
    this.#startedAt = parts?.startedAt;
    this.#ownCpu = parts?.ownCpu;
    this.#generation = parts?.generation ?? 0;
  }

  get namespace(): string {
    return this.#state.namespace;
  }
  get resourceVersion(): string {
    return String(this.#version);
  }
  get phase(): PodRecord['phase'] {
    return this.#state.phase;
  }
  get ready(): boolean {
    return this.#state.ready;
  }
  get readyChangedAt(): EpochMillis | undefined {
    return unpackInstant(this.#readyChangedAt);
  }
  get unschedulableSince(): EpochMillis | undefined {
    return this.#state.unschedulableSince;
  }
  get createdAt(): EpochMillis {
    return unpackInstant(this.#createdAt) ?? 0;
  }
  get deletingAt(): EpochMillis | undefined {
    return this.#state.deletingAt;
  }
  get evictedAt(): EpochMillis | undefined {
    return this.#state.evictedAt;
  }
  get admissionId(): string | undefined {
    return this.#admissionId === undefined ? undefined : unpackUuid(this.#admissionId);
  }
  get capacity(): PodRecord['capacity'] {
    return this.#state.capacity;
  }
  get unconfirmed(): boolean {
    return this.#state.unconfirmed;
  }
  get fallback(): boolean {
    return this.#state.fallback;
  }
  get pinned(): boolean | undefined {
    return this.#state.pinned;
  }
  get deletionCost(): number {
    return this.#state.deletionCost;
  }
  get protectedBy(): string | undefined {
    return this.#state.protectedBy;
  }
  get resizing(): boolean {
    return this.#state.resizing;
  }
  get sizing(): PodRecord['sizing'] {
    const sizing = this.#sizing;
    return sizing !== undefined && 'shared' in sizing
      ? sizingOfParts({
          common: sizing,
          startedAt: this.#startedAt,
          ownCpu: this.#ownCpu,
          generation: this.#generation,
        })
      : sizing;
  }
}

/**
 * @param maxStates beyond so many live states equal ones are merely no longer shared.
 * @returns what makes the record to keep of a pod; texts that it has in common with an earlier record are that one's.
 */
export function createPodCompactor(maxStates: number): (pod: PodRecord, before: PodRecord | undefined) => PodRecord {
  const states = createInterner<PodState>(maxStates);
  return (pod, before) => new CompactPod(pod, states.intern(stateOf(pod)), before);
}

function stateOf(pod: PodRecord): PodState {
  return {
    namespace: pod.namespace,
    phase: pod.phase,
    ready: pod.ready,
    unschedulableSince: pod.unschedulableSince,
    deletingAt: pod.deletingAt,
    evictedAt: pod.evictedAt,
    capacity: pod.capacity,
    unconfirmed: pod.unconfirmed,
    fallback: pod.fallback,
    pinned: pod.pinned,
    deletionCost: pod.deletionCost,
    protectedBy: pod.protectedBy,
    resizing: pod.resizing,
  };
}

/** The earlier record's text, where it is equal: two parsed texts are two texts in memory. */
function sameText(text: string, before: string | undefined): string {
  return text === before ? before : text;
}
