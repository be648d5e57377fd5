/**
 * Quotas of namespaces read at the moment, as what informers knew a moment ago is not enough before a raise. One
 * reading serves all raises of its second: what is sent after it is counted on top of it, so that together they stay
 * within it, too.
 */
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import { applyChanges, type SizeChange, sumOf } from '../../model/pod-size.ts';
import type { ContainerSpecRecord, QuotaRecord } from '../../model/sizing-records.ts';
import type { ReadQuotas } from '../../observe/allocation-quotas.ts';

/** Of a pod's CPU; never negative, as less is credited only once the node has carried it out. */
export interface CpuGrowth {
  readonly cpuRequest: Millicores;
  readonly cpuLimit: Millicores;
}

/** What is known of one namespace at one moment. */
export interface QuotaReading {
  /** Undefined: they could not be read. */
  readonly quotas: readonly QuotaRecord[] | undefined;
  /**
   * Growth that may be missing in these figures, by uid of the pod: what was on its way when they were read, and what
   * has been sent since.
   */
  readonly unseen: ReadonlyMap<string, CpuGrowth>;
}

export interface QuotaReadings {
  /**
   * Not older than {@link READING_LIFE}. Never rejects. The API server refuses with 403 what exceeds a quota; this is
   * to ask for no more than there is.
   */
  of(namespace: string, signal: AbortSignal): Promise<QuotaReading>;
  /** Call before a raise leaves, with what it adds; nothing where the namespace was not read within the last second. */
  note(pod: { readonly namespace: string; readonly uid: string }, growth: CpuGrowth): void;
}

export interface QuotaReadingsOptions {
  readonly read: ReadQuotas;
  /** Growth of the namespace's pods that was asked for and is not in the specs known here, by uid of the pod. */
  readonly underWay: (namespace: string) => ReadonlyMap<string, CpuGrowth>;
  readonly clock: Clock;
}

/**
 * Who was told that there is no room may ask again after this time: it is also how long a raise may be answered from an
 * old reading, so it bounds how much the API server is asked, one list of quotas a namespace and second.
 */
export const READING_LIFE: Millis = 1000;

interface Reading {
  readonly at: EpochMillis;
  readonly unseen: Map<string, CpuGrowth>;
  readonly quotas: Promise<readonly QuotaRecord[] | undefined>;
}

export function createQuotaReadings({ read, underWay, clock }: QuotaReadingsOptions): QuotaReadings {
  const readings = new Map<string, Reading>();

  const currentOf = (namespace: string, signal: AbortSignal): Reading => {
    const now = clock.now();
    for (const [key, { at }] of readings) if (now - at >= READING_LIFE) readings.delete(key);
    const known = readings.get(namespace);
    if (known !== undefined) return known;
    // The answer may be older than what is on its way right now.
    const unseen = new Map(underWay(namespace));
    const reading = { at: now, unseen, quotas: read(namespace, signal) };
    readings.set(namespace, reading);
    return reading;
  };

  return {
    async of(namespace, signal) {
      const { quotas, unseen } = currentOf(namespace, signal);
      return { quotas: await quotas, unseen };
    },
    note({ namespace, uid }, growth) {
      const unseen = readings.get(namespace)?.unseen;
      if (unseen === undefined) return;
      const before = unseen.get(uid) ?? NONE;
      unseen.set(uid, {
        cpuRequest: before.cpuRequest + growth.cpuRequest,
        cpuLimit: before.cpuLimit + growth.cpuLimit,
      });
    },
  };
}

const NONE: CpuGrowth = { cpuRequest: 0, cpuLimit: 0 };

/** What changes add to the requests and limits of a pod in all. */
export function cpuGrowth(containers: readonly ContainerSpecRecord[], changes: readonly SizeChange[]): CpuGrowth {
  const after = applyChanges(containers, changes);
  const growth = (key: keyof CpuGrowth): Millicores => Math.max(0, sumOf(after, key) - sumOf(containers, key));
  return { cpuRequest: growth('cpuRequest'), cpuLimit: growth('cpuLimit') };
}
