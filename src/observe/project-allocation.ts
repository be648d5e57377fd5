/** PodAllocation -> {@link AllocationRecord}; what the allocations of many pods have in common is kept once. */
import {
  type AllocationGuidance,
  type PodAllocation,
  type PodAllocationCondition,
  type PodAllocationSpec,
  type PodAllocationStatus,
  RENEWED_ANNOTATION,
} from '../api/pod-allocation.ts';
import { parseResourceVersion } from '../kube/resource-version.ts';
import { packUuid, unpackUuid } from '../lib/packed-uuid.ts';
import type { PodRecord } from '../model/records.ts';
import {
  type AllocationTerms,
  type CompactSpec,
  ownText,
  type PackedUsage,
  packUsage,
  plainSpec,
  termsOf,
  unpackUsage,
} from './compact-allocation.ts';
import { createInterner, createTextInterner } from './intern.ts';

/** A PodAllocation, small enough for one of each pod. */
export interface AllocationRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /**
   * The agent's last sign of life on this object, seconds since 1970 by the clock of its node; undefined without one.
   */
  readonly renewed: number | undefined;
  /** Of which state of the object this is; undefined where versions have no order. */
  readonly version: number | undefined;
  /**
   * Whoever goes through all allocations takes from here what it needs of the spec. The uid is undefined for objects of
   * MBCAS, which name the pod only.
   */
  readonly podName: string;
  readonly podUID: string | undefined;
  /** Of its decision; undefined where nothing was measured. */
  readonly cpuUsage: string | undefined;
  /** Put together when it is asked for. */
  readonly spec: PodAllocationSpec;
  /** Empty where there is none. */
  readonly status: PodAllocationStatus;
}

interface RecordParts
  extends Pick<AllocationRecord, 'namespace' | 'name' | 'uid' | 'generation' | 'renewed' | 'version' | 'status'> {
  readonly compact: CompactSpec;
}

/** A class for its prototype: a spec that nobody asks for costs nothing. */
class CompactRecord implements AllocationRecord {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly renewed: number | undefined;
  readonly version: number | undefined;
  readonly podName: string;
  readonly podUID: string | undefined;
  readonly status: PodAllocationStatus;
  readonly #uid: string;
  readonly #terms: AllocationTerms;
  readonly #usage: PackedUsage;
  readonly #pattern: string;
  readonly #numbers: string | undefined;

  constructor({ namespace, name, uid, generation, renewed, version, status, compact }: RecordParts) {
    this.namespace = namespace;
    this.name = name;
    this.#uid = packUuid(uid);
    this.generation = generation;
    this.renewed = renewed;
    this.version = version;
    this.podName = compact.podName;
    this.podUID = compact.podUID;
    this.status = status;
    this.#terms = compact.terms;
    this.#usage = compact.usage;
    this.#pattern = compact.own.pattern;
    this.#numbers = compact.own.numbers;
  }

  get uid(): string {
    return unpackUuid(this.#uid);
  }

  get cpuUsage(): string | undefined {
    return unpackUsage(this.#usage);
  }

  get spec(): PodAllocationSpec {
    return plainSpec({
      podName: this.podName,
      podUID: this.podUID,
      terms: this.#terms,
      usage: this.#usage,
      own: { pattern: this.#pattern, numbers: this.#numbers },
    });
  }
}

/** Values of a kind kept for sharing; beyond these equal ones are merely no longer shared. */
const MAX_SHARED = 5_000;

/** Name and uid of a pod as its record has them; undefined for a pod that is not known. */
export type PodTexts = (namespace: string, podName: string) => Pick<PodRecord, 'name' | 'uid'> | undefined;

/**
 * The projection answers undefined for an object that says nothing of a pod.
 * @param podTexts what is the same text in the record of the pod is kept there only.
 */
export function createAllocationProjection(
  podTexts: PodTexts = () => undefined,
): (object: PodAllocation) => AllocationRecord | undefined {
  const texts = createTextInterner(MAX_SHARED);
  const terms = createInterner<AllocationTerms>(MAX_SHARED);
  const conditions = createInterner<PodAllocationCondition>(MAX_SHARED);
  const conditionLists = createInterner<readonly PodAllocationCondition[]>(MAX_SHARED, (list) =>
    list.map((each) => conditions.intern(each)),
  );
  const guidances = createInterner<AllocationGuidance>(MAX_SHARED);

  const compactOf = (spec: PodAllocationSpec, podName: string, name: string): CompactSpec => {
    const { pattern, numbers } = ownText(spec);
    return {
      podName,
      // Objects of our agents are named after it.
      podUID: spec.podUID === name ? name : spec.podUID,
      terms: terms.intern(termsOf(spec)),
      usage: packUsage(spec.decision?.cpuUsage),
      own: { pattern: texts.intern(pattern), numbers },
    };
  };
  // At rest most pods of a node were told the same.
  const statuses = createInterner<PodAllocationStatus>(MAX_SHARED, (status) => ({
    ...status,
    ...(status.reason !== undefined && { reason: texts.intern(status.reason) }),
    ...(status.conditions !== undefined && { conditions: conditionLists.intern(status.conditions) }),
    ...(status.guidance !== undefined && { guidance: guidances.intern(status.guidance) }),
  }));
  const none: PodAllocationStatus = {};

  return ({ metadata, spec, status }) => {
    const { namespace, name, uid = '', generation = 0, resourceVersion, annotations } = metadata ?? {};
    if (namespace === undefined || name === undefined || spec === undefined) return undefined;
    const pod = podTexts(namespace, spec.podName);
    const known = pod?.uid === name ? pod.uid : name;
    return new CompactRecord({
      namespace: texts.intern(namespace),
      name: known,
      uid,
      generation,
      renewed: secondsOf(annotations?.[RENEWED_ANNOTATION]),
      version: parseResourceVersion(resourceVersion),
      compact: compactOf(spec, pod?.name ?? spec.podName, known),
      status: status === undefined ? none : statuses.intern(status),
    });
  };
}

/** Whole seconds, since a small integer takes no memory of its own. */
function secondsOf(time: string | undefined): number | undefined {
  const at = Date.parse(time ?? '');
  return Number.isFinite(at) ? Math.floor(at / 1000) : undefined;
}
