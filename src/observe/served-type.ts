/** Types that a cluster may or may not serve: whether one is served and may be read, and the end of following it. */
import type { DiscoveredResource, KubeApi } from '../api/kube-api.ts';
import { isForbidden, isNotFound } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import type { Informer, InformerHandler } from '../kube/informer.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';

/** What is known of a type at one moment. */
export type Availability =
  | { readonly kind: 'served'; readonly type: ResourceType }
  /** Not there, or not to be read: nothing comes of it until that changes. */
  | { readonly kind: 'unavailable'; readonly cause: 'not-served' | 'forbidden'; readonly error: string | undefined }
  /** The answer says nothing, such as a broken connection. */
  | { readonly kind: 'unknown'; readonly error: string };

/** By its plural or its kind, as discovery names both. */
export interface SoughtType {
  /** `group/version`. */
  readonly apiVersion: string;
  readonly isIt: (resource: DiscoveredResource) => boolean;
  /** Where it is tried whether the type may be read, which it is in one of them; left out, in the whole cluster. */
  readonly probeNamespaces?: readonly string[] | undefined;
}

/** How often it is asked whether a type is served by now, or may be read. */
export const LOOK_AGAIN_MILLIS: Millis = 60_000;
/** How soon it is asked again where there was no answer at all. */
const RETRY_MILLIS: Millis = 2_000;

/** Asks discovery, and whether a list is answered: a type may be served and not be ours to read. Never rejects. */
export async function lookForType(api: KubeApi, sought: SoughtType, signal: AbortSignal): Promise<Availability> {
  const { apiVersion, isIt, probeNamespaces } = sought;
  try {
    const found = ((await api.discover?.(apiVersion, { signal })) ?? []).find(isIt);
    if (found === undefined) return { kind: 'unavailable', cause: 'not-served', error: undefined };
    const [first = '', second] = apiVersion.split('/');
    const group = second === undefined ? '' : first;
    const type = { group, version: second ?? first, ...found };
    const refusal = await refusalOf(api, type, probeNamespaces, signal);
    if (refusal !== undefined) return { kind: 'unavailable', cause: 'forbidden', error: describeError(refusal) };
    return { kind: 'served', type };
  } catch (error) {
    if (isNotFound(error)) return { kind: 'unavailable', cause: 'not-served', error: describeError(error) };
    return { kind: 'unknown', error: describeError(error) };
  }
}

/** Undefined where it may be read. @throws KubeError for any other answer. */
async function refusalOf(
  api: KubeApi,
  type: ResourceType,
  namespaces: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  let refusal: unknown;
  for (const where of namespaces?.map((namespace) => ({ namespace })) ?? [{}]) {
    try {
      await api.list(type, { limit: 1, signal, ...where });
      return undefined;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      refusal ??= error;
    }
  }
  return refusal;
}

/** How long to wait before looking once more. */
export function pauseAfter({ kind }: Availability): Millis {
  return kind === 'unknown' ? RETRY_MILLIS : LOOK_AGAIN_MILLIS;
}

/** Resolves when the type of an informer that has lost its server is found unavailable, or `signal` aborts. */
export async function untilUnavailable(
  informer: Informer<unknown>,
  look: (signal: AbortSignal) => Promise<Availability>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(clock, LOOK_AGAIN_MILLIS, signal);
    if (signal.aborted || informer.freshness() === 'fresh') continue;
    if ((await look(signal)).kind === 'unavailable') return;
  }
}

/** Tells handlers that all records are gone: call when an informer is let go of while others go on. */
export function tellAllRemoved<R>({ store }: Informer<R>, handlers: Iterable<InformerHandler<R>>): void {
  const told = [...handlers];
  for (const key of Array.from(store.keys()))
    for (const handler of told) handler.onChange(key, store.get(key), undefined);
}
