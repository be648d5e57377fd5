/** Others who set sizes and templates to what they take for right, again and again: an autoscaler of sizes, a tool that applies what is in git, a pipeline that replaces. */
import type { KubeObject, ObjectMeta, Pod } from '../api/core.ts';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { seedOf } from '../cluster/load/curve.ts';
import { isFinished, isTerminating } from '../cluster/pod-state.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Millis } from '../lib/units.ts';
import { sizeOf } from './container-sizes.ts';
import { workloadType } from './objects.ts';

/** By the names under which they write. */
const rivalManagers = {
  /** Resizes running pods, as a VerticalPodAutoscaler in place: those of every other workload, by its name. */
  resizer: 'vpa-updater',
  /** Applies workloads with force wherever they differ from how they were made. */
  applier: 'argocd-controller',
  /** Replaces workloads by how they were made: annotations of others go, too. */
  replacer: 'kubectl-replace',
} as const;

export type Rival = keyof typeof rivalManagers;

export interface RivalOptions {
  readonly cluster: Pick<Cluster, 'api' | 'caches'>;
  readonly clock: Clock;
  /** What the scenario made at first. */
  readonly objects: readonly KubeObject[];
  /** Ends it, with its reason. */
  readonly signal: AbortSignal;
}

const PERIODS: Readonly<Record<Rival, Millis>> = { resizer: 60_000, applier: 20_000, replacer: 120_000 };
const NAMESPACE = 'shop';
const WANTED_MILLICORES = 310;

/** Is at work on the namespace `shop` for a time. Resolves when that is over. */
export async function beRival(rival: Rival, forMillis: Millis, options: RivalOptions): Promise<void> {
  const { clock, signal } = options;
  for (const endsAt = clock.now() + forMillis; clock.now() < endsAt; ) {
    await deeds[rival](options);
    await sleep(clock, Math.min(PERIODS[rival], Math.max(1, endsAt - clock.now())), signal);
  }
}

const deeds: Readonly<Record<Rival, (options: RivalOptions) => Promise<void>>> = {
  async resizer({ cluster: { api, caches } }) {
    const cpu = `${WANTED_MILLICORES}m`;
    for (const pod of [...caches.of(resources.pods).inNamespace(NAMESPACE)]) {
      const [container] = pod.spec?.containers ?? [];
      if (container === undefined || !isToBeResized(pod)) continue;
      const body = { spec: { containers: [{ name: container.name, resources: { requests: { cpu } } }] } };
      const options = { namespace: NAMESPACE, subresource: 'resize', fieldManager: rivalManagers.resizer };
      await unlessRefused(api.patch(resources.pods, pod.metadata?.name ?? '', { type: 'strategic', body }, options));
    }
  },
  async applier({ cluster: { api, caches }, objects }) {
    for (const object of objects.filter(isWorkload)) {
      const { name = '' } = object.metadata ?? {};
      const type = workloadType(object.kind);
      const body = asMade(object, undefined);
      const live = caches.of(type).get(`${NAMESPACE}/${name}`);
      if (live === undefined || isPartOf(body, live)) continue;
      const options = { namespace: NAMESPACE, fieldManager: rivalManagers.applier };
      await unlessRefused(api.patch(type, name, { type: 'apply', body, force: true }, options));
    }
  },
  async replacer({ cluster: { api, caches }, objects }) {
    for (const object of objects.filter(isWorkload)) {
      const type = workloadType(object.kind);
      const live = caches.of(type).get(`${NAMESPACE}/${object.metadata?.name}`);
      if (live === undefined) continue;
      const options = { namespace: NAMESPACE, fieldManager: rivalManagers.replacer };
      await unlessRefused(api.replace(type, asMade(object, replicasOf(live)), options));
    }
  },
};

/** Whether one of them wrote what became of `before`; field managers must be recorded. */
export function isByRival(before: KubeObject, after: KubeObject): boolean {
  return lastWrites(after).some((write) => !lastWrites(before).includes(write));
}

/** Whether one of them has written to it. */
export function isRivals(object: KubeObject): boolean {
  return lastWrites(object).length > 0;
}

type Entry = NonNullable<ObjectMeta['managedFields']>[number] & { readonly subresource?: string };

/** Of each of them, with its time: what others take away from it leaves that as it is. */
function lastWrites({ metadata }: KubeObject): string[] {
  const managers: readonly string[] = Object.values(rivalManagers);
  const entries: readonly Entry[] = metadata?.managedFields ?? [];
  return entries.flatMap(({ manager = '', operation, subresource, time }) =>
    managers.includes(manager) ? [`${manager} ${operation} ${subresource} ${time}`] : [],
  );
}

function isToBeResized(pod: Pod): boolean {
  if (isTerminating(pod) || isFinished(pod) || pod.status?.phase !== 'Running') return false;
  if (seedOf(pod.metadata?.labels?.['app'] ?? '') % 2 === 0) return false;
  const [container] = pod.spec?.containers ?? [];
  const size = sizeOf(container ?? {});
  const request = size.get('cpu request');
  const limit = size.get('cpu limit') ?? Number.POSITIVE_INFINITY;
  return request !== undefined && request !== WANTED_MILLICORES && request < limit && WANTED_MILLICORES < limit;
}

function isWorkload({ kind, metadata }: KubeObject): boolean {
  return (kind === 'Deployment' || kind === 'StatefulSet') && metadata?.namespace === NAMESPACE;
}

/** Replicas are an autoscaler's. */
function asMade(object: KubeObject, replicas: number | undefined): KubeObject {
  const { replicas: _, ...spec } = specOf(object);
  return { ...object, ...{ spec: replicas === undefined ? spec : { ...spec, replicas } } };
}

function replicasOf(object: KubeObject): number | undefined {
  const { replicas } = specOf(object);
  return typeof replicas === 'number' ? replicas : undefined;
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const spec: unknown = Reflect.get(object, 'spec');
  return isRecord(spec) ? spec : {};
}

/** Whether `whole` says all that `part` says. */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((each, index) => isPartOf(each, whole[index] as unknown));
  if (!isRecord(part)) return part === undefined || part === whole;
  return isRecord(whole) && Object.entries(part).every(([key, value]) => isPartOf(value, whole[key]));
}

async function unlessRefused(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    // Quotas and rules refuse it, it is gone, or somebody else was quicker: it is tried again at the next look.
    if (!(error instanceof KubeError)) throw error;
  }
}
