/**
 * Whether the kernel enforces the limits that the kubelet says are in force: `systemctl daemon-reload` and second
 * writers reset quotas behind its back (runc#1605, crun#1011, moby#51446, koordinator#2306), and a change may never have
 * got to the kernel (k/k#118371). Told once; what was in force is set anew once, by a resize, never in a loop.
 */
import type { AllocationPod } from '../decide/allocation/allocation-pod.ts';
import { isResizing } from '../decide/allocation/seat.ts';
import type { Logger } from '../lib/log.ts';
import type { Millicores, Millis } from '../lib/units.ts';
import type { CpuQuota } from './cgroup/parse.ts';
import type { AgentPod } from './node-stores.ts';
import type { PodUse, Sampler } from './sampler.ts';

/** Remembers each pod's last limit that was seen in force. */
export interface QuotaCheck {
  /**
   * Looks at the pods whose turn it is.
   * @returns by uid the limit to ask for of pods whose own should be set anew: a kubelet sets a quota when the limit
   * changes, and only then, so a step more. Once for each pod, for half a minute.
   */
  look(pods: readonly AgentPod[], nowMillis: Millis): ReadonlyMap<string, Millicores>;
  /** Pods whose limit is not in force, though it was, or though the one before was. */
  readonly lost: number;
}

/** Files are read for it, so not at every tick. */
const EVERY: Millis = 5000;
/** One look may fall between a resize and its status. */
const LOOKS = 2;
/** The systemd driver rounds quotas up to ten millicores. */
const STEP: Millicores = 10;
/** As long as the limit is asked for anew; the operator needs a few seconds. */
const ASKED_FOR: Millis = 30_000;

type Limits = readonly (readonly [string, Millicores])[];

interface Known {
  lookedMillis: Millis;
  /** When it was told. */
  toldMillis: Millis | undefined;
  /** The limit has changed since, and with it the quota: whoever changes it back means that. */
  isSetAnew: boolean;
  /** Limits, by container, as they were when all of them were in force. */
  inForce: string | undefined;
  misses: number;
}

export function createQuotaCheck(options: {
  readonly sampler: Pick<Sampler, 'pod'>;
  readonly log: Logger;
}): QuotaCheck {
  const pods = new Map<string, Known>();

  const lookAt = ({ tracked }: AgentPod, limits: Limits, known: Known, nowMillis: Millis): void => {
    const use = options.sampler.pod(tracked.groupUid);
    const judged = use === undefined ? 'unknown' : judge(limits, use);
    if (judged === 'unknown') return;
    const text = JSON.stringify(limits);
    if (judged === 'in-force') {
      known.inForce = text;
      known.misses = 0;
      return;
    }
    // None ever seen in force: a kubelet that sets no quotas (cpuCFSQuota: false).
    if (known.inForce === undefined) return;
    known.misses++;
    if (known.misses < LOOKS || known.toldMillis !== undefined) return;
    known.toldMillis = nowMillis;
    options.log.warn(
      { pod: tracked.label, limits: text },
      known.inForce === text
        ? 'A CPU limit is in force no more: something has reset its quota'
        : 'A CPU limit is not in force, though the kubelet says so: the kernel still has another quota',
    );
  };

  return {
    look(all, nowMillis) {
      const due = new Map<string, Millicores>();
      const present = new Set<string>();
      for (const each of all) {
        const { uid } = each.pod;
        present.add(uid);
        const limits = limitsOf(each.pod);
        if (limits === undefined || isResizing(each.pod)) continue;
        const known = pods.get(uid) ?? { ...UNKNOWN };
        pods.set(uid, known);
        if (nowMillis - known.lookedMillis >= EVERY) {
          known.lookedMillis = nowMillis;
          lookAt(each, limits, known, nowMillis);
        }
        const { toldMillis, misses, inForce } = known;
        if (toldMillis !== undefined && inForce !== JSON.stringify(limits)) known.isSetAnew = true;
        const isAskedFor = toldMillis !== undefined && nowMillis - toldMillis < ASKED_FOR && misses >= LOOKS;
        if (isAskedFor && !known.isSetAnew)
          due.set(
            uid,
            limits.reduce((sum, [, limit]) => sum + limit, STEP),
          );
      }
      for (const uid of pods.keys()) if (!present.has(uid)) pods.delete(uid);
      return due;
    },
    get lost() {
      return [...pods.values()].filter(({ misses }) => misses >= LOOKS).length;
    },
  };
}

const UNKNOWN: Known = {
  lookedMillis: Number.NEGATIVE_INFINITY,
  toldMillis: undefined,
  isSetAnew: false,
  inForce: undefined,
  misses: 0,
};

/** Limits by container as the kubelet says they are in force; undefined where it says nothing, or there are none. */
function limitsOf({ statuses }: AllocationPod): Limits | undefined {
  const limits = statuses.flatMap(({ name, actual }): (readonly [string, Millicores])[] =>
    actual?.cpuLimit === undefined ? [] : [[name, actual.cpuLimit]],
  );
  return limits.length === 0 ? undefined : limits;
}

/** Unknown where a quota cannot be read: then nothing is concluded. */
function judge(limits: Limits, use: PodUse): 'in-force' | 'reset' | 'unknown' {
  const quotas = limits.map(([name]) => use.container(name)?.settings()?.quota);
  if (quotas.some((quota) => quota === undefined)) return 'unknown';
  const isAsSaid = limits.every(([, limit], index) => Math.abs(millicoresOf(quotas[index]) - limit) <= STEP);
  return isAsSaid ? 'in-force' : 'reset';
}

function millicoresOf(quota: CpuQuota | undefined): Millicores {
  if (quota?.quotaMicros === undefined) return Number.POSITIVE_INFINITY;
  return (1000 * quota.quotaMicros) / quota.periodMicros;
}
