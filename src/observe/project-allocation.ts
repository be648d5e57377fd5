/** PodAllocation -> {@link AllocationRecord}; what the allocations of many pods have in common is kept once. */
import {
  type PodAllocation,
  type PodAllocationPhase,
  type PodAllocationSpec,
  type PodAllocationStatus,
  RENEWED_ANNOTATION,
} from '../api/pod-allocation.ts';
import { parseResourceVersion } from '../kube/resource-version.ts';
import { packUuid, unpackUuid } from '../lib/packed-uuid.ts';
import { createTextInterner } from '../lib/text-interner.ts';
import type { PodRecord } from '../model/records.ts';
import {
  type AllocationText,
  allocationText,
  type PackedUsage,
  plainSpec,
  plainStatus,
  type SpecParts,
  specParts,
  unpackUsage,
} from './compact-allocation.ts';
import { createInterner } from './intern.ts';

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
   * Whoever goes through all allocations takes from here what it needs of spec and status. The uid is undefined for
   * objects of MBCAS, which name the pod only, as is the node.
   */
  readonly podName: string;
  readonly podUID: string | undefined;
  readonly nodeName: string | undefined;
  /** Of its decision; undefined where nothing was measured. */
  readonly cpuUsage: string | undefined;
  readonly phase: PodAllocationPhase | undefined;
  /** Put together each time it is asked for, as is the status. */
  readonly spec: PodAllocationSpec;
  /** Empty where there is none. */
  readonly status: PodAllocationStatus;
}

/** What many have in common, however much their numbers differ. */
interface SharedParts extends Pick<AllocationRecord, 'namespace' | 'phase'>, Pick<AllocationText, 'spec' | 'status'> {}

interface RecordParts
  extends Pick<AllocationRecord, 'name' | 'uid' | 'generation' | 'renewed' | 'version'>,
    Omit<SpecParts, 'namespace'>,
    Pick<AllocationText, 'numbers'> {
  readonly shared: SharedParts;
}

/** A class for its prototype: a spec that nobody asks for costs nothing. */
class CompactRecord implements AllocationRecord {
  readonly name: string;
  readonly generation: number;
  readonly renewed: number | undefined;
  readonly version: number | undefined;
  readonly podName: string;
  readonly podUID: string | undefined;
  readonly nodeName: string | undefined;
  readonly #uid: string;
  readonly #usage: PackedUsage;
  readonly #containers: readonly string[] | undefined;
  readonly #numbers: string | undefined;
  readonly #shared: SharedParts;

  constructor(parts: RecordParts) {
    this.name = parts.name;
    this.generation = parts.generation;
    this.renewed = parts.renewed;
    this.version = parts.version;
    this.podName = parts.podName;
    this.podUID = parts.podUID;
    this.nodeName = parts.nodeName;
    this.#uid = packUuid(parts.uid);
    this.#usage = parts.usage;
    this.#containers = parts.containers;
    this.#numbers = parts.numbers;
    this.#shared = parts.shared;
  }

  get namespace(): string {
    return this.#shared.namespace;
  }

  get phase(): PodAllocationPhase | undefined {
    return this.#shared.phase;
  }

  get uid(): string {
    return unpackUuid(this.#uid);
  }

  get cpuUsage(): string | undefined {
    return unpackUsage(this.#usage);
  }

  get spec(): PodAllocationSpec {
    const { namespace, podName, podUID, nodeName } = this;
    const parts = { namespace, podName, podUID, nodeName, usage: this.#usage, containers: this.#containers };
    return plainSpec(parts, this.#text());
  }

  get status(): PodAllocationStatus {
    return plainStatus(this.phase, this.#text());
  }

  #text(): AllocationText {
    const { spec, status } = this.#shared;
    return { spec, status, numbers: this.#numbers };
  }
}

/** Values of a kind kept for sharing; beyond these equal ones are merely no longer shared. */
const MAX_SHARED = 5_000;

/** Texts of a pod as its record has them; undefined for a pod that is not known. */
export type PodTexts = (namespace: string, podName: string) => Pick<PodRecord, 'name' | 'uid' | 'nodeName'> | undefined;

/**
 * The projection answers undefined for an object that says nothing of a pod.
 * @param podTexts what is the same text in the record of the pod is kept there only.
 */
export function createAllocationProjection(
  podTexts: PodTexts = () => undefined,
): (object: PodAllocation) => AllocationRecord | undefined {
  const texts = createTextInterner(MAX_SHARED);
  const names = createInterner<readonly string[]>(MAX_SHARED);
  const shared = createInterner<SharedParts>(MAX_SHARED, ({ namespace, phase, spec, status }) => ({
    namespace: texts.intern(namespace),
    phase,
    spec: texts.intern(spec),
    status: texts.intern(status),
  }));

  return ({ metadata, spec, status = {} }) => {
    const { namespace, name, uid = '', generation = 0, resourceVersion, annotations } = metadata ?? {};
    if (namespace === undefined || name === undefined || spec === undefined) return undefined;
    const { podName, podUID, nodeName, usage, containers } = specParts(namespace, spec);
    const pod = podTexts(namespace, podName);
    const known = pod?.uid === name ? pod.uid : name;
    const { numbers, ...patterns } = allocationText(namespace, spec, status);
    return new CompactRecord({
      name: known,
      uid,
      generation,
      renewed: secondsOf(annotations?.[RENEWED_ANNOTATION]),
      version: parseResourceVersion(resourceVersion),
      podName: pod?.name ?? podName,
      // Objects of our agents are named after it.
      podUID: podUID === name ? known : podUID,
      nodeName: nodeName && (pod?.nodeName === nodeName ? pod.nodeName : texts.intern(nodeName)),
      usage,
      containers: containers && names.intern(containers),
      numbers,
      shared: shared.intern({ namespace, phase: status.phase, ...patterns }),
    });
  };
}

/** Whole seconds, since a small integer takes no memory of its own. */
function secondsOf(time: string | undefined): number | undefined {
  const at = Date.parse(time ?? '');
  return Number.isFinite(at) ? Math.floor(at / 1000) : undefined;
}
