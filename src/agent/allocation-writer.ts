/**
 * The agent's only writer: PodAllocations of its own node's pods, by server-side apply. It paces itself, gives up what
 * has grown old, and when the server refuses it waits longer each time: with all it writes, or with one namespace's. It
 * never deletes and never writes pods.
 */
import type { KubeApi, Patch } from '../api/kube-api.ts';
import { AGENT_FIELD_MANAGER, type PodAllocation, podAllocations } from '../api/pod-allocation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { severalAtOnce } from '../lib/several-at-once.ts';
import type { Millis } from '../lib/units.ts';
import { type Refusal, refusalOf, refusalText, type WriteResult } from './write-refusals.ts';

/** One object of one pod. */
export interface PendingWrite {
  readonly object: PodAllocation;
  /**
   * The object has metadata only: merged into the one on the server, and not created where there is none. Else it is
   * applied.
   */
  readonly isAnnotation?: true;
  /** Decreases are sent before increases. */
  readonly growth: number;
}

/** One batch at a time: the caller waits for it, as a plan made meanwhile would not know what got through. */
export interface AllocationWriter {
  /**
   * Writes them all, decreases first.
   * @returns the result of each, in order; `undefined` for those not sent: the writer is waiting, or time was up.
   */
  write(writes: readonly PendingWrite[], signal: AbortSignal): Promise<readonly (WriteResult | undefined)[]>;
  /** Whether it is waiting because the server refused: with this namespace; left out, with anything. */
  isWaiting(namespace?: string): boolean;
}

export interface AllocationWriterOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly log: Logger;
  /** A write that takes longer is given up: by then it would be about the past. It may change. */
  readonly deadlineMillis: () => Millis;
  /**
   * A server in trouble is tried again after this long at the latest: the operator takes an agent for gone that is not
   * heard, whoever is to blame, and its pods lose their share. It may change.
   */
  readonly longestTroubleMillis: () => Millis;
}

/** At once, so that a node full of new pods does not crowd out its neighbours at the API server. */
const CONCURRENCY = 4;
/** In one go; the rest comes with the next tick, newly planned, instead of growing old in a queue. */
const BATCH = 32;
/** After the first refusal; doubled with each further one, up to {@link LONGEST_PAUSE}. */
const FIRST_PAUSE: Millis = 2000;
/** Where it takes somebody to mend what is in the way: a right, a definition, a rule of admission. */
const LONGEST_PAUSE: Millis = 60_000;

/** What is no longer asked for is no longer known to be refused, either. */
const FORGOTTEN: Millis = 10 * LONGEST_PAUSE;
/** Beside the names of namespaces. */
const ALL = '';

interface Pause {
  readonly lengthMillis: Millis;
  readonly untilMillis: Millis;
}

export function createAllocationWriter(options: AllocationWriterOptions): AllocationWriter {
  const { api, clock, monotonic, log, deadlineMillis, longestTroubleMillis } = options;
  const pauses = new Map<string, Pause>();
  const trouble = createTrouble(log);

  /** @param isLate whether time is up. */
  const send = async (
    write: PendingWrite,
    signal: AbortSignal,
    isLate: () => boolean,
  ): Promise<Refusal | undefined> => {
    const { object, isAnnotation } = write;
    const { name = '' } = object.metadata ?? {};
    try {
      const patch: Patch =
        isAnnotation === true ? { type: 'merge', body: object } : { type: 'apply', body: object, force: true };
      await api.patch(podAllocations, name, patch, {
        namespace: namespaceOf(write),
        fieldManager: AGENT_FIELD_MANAGER,
        signal,
        // Beside the watches: a connection of its own for a write now and then would cost memory on every node.
        lane: 'bulk',
      });
      trouble.end(object);
      return undefined;
    } catch (error) {
      const refusal = isLate() ? late : refusalOf(error);
      trouble.tell(refusal, error, object);
      return refusal;
    }
  };
  const isPaused = (what: string): boolean => monotonic() < (pauses.get(what)?.untilMillis ?? 0);
  const pause = (what: string, result: Refusal['result'], least: Millis): void => {
    const longest = result === 'failed' ? Math.min(LONGEST_PAUSE, longestTroubleMillis()) : LONGEST_PAUSE;
    const lengthMillis = Math.max(least, Math.min(longest, 2 * (pauses.get(what)?.lengthMillis ?? 0)));
    pauses.set(what, { lengthMillis, untilMillis: monotonic() + lengthMillis });
  };
  const forgetOld = (): void => {
    for (const [what, { untilMillis }] of pauses) if (monotonic() - untilMillis >= FORGOTTEN) pauses.delete(what);
  };

  return {
    async write(writes, signal) {
      forgetOld();
      const free = isPaused(ALL) ? [] : writes.filter((write) => !isPaused(namespaceOf(write)));
      if (free.length === 0) return writes.map(() => undefined);
      const deadline = new AbortController();
      const timer = clock.setTimer(deadlineMillis(), () => deadline.abort(new Error('The write took too long.')));
      const limited = AbortSignal.any([signal, deadline.signal]);
      const results = new Map<PendingWrite, WriteResult>();
      const refused = new Map<string, Refusal['result']>();
      /** Namespaces of which the server said something, however long others take. */
      const answered = new Set<string>();
      const isLate = (): boolean => deadline.signal.aborted && !signal.aborted;
      /** In parallel, and no more of what was refused for a reason that holds for it, too. */
      const sendAll = (some: readonly PendingWrite[]): Promise<void> =>
        severalAtOnce(some, CONCURRENCY, async (write) => {
          const namespace = namespaceOf(write);
          if (limited.aborted || refused.has(ALL) || refused.has(namespace)) return;
          const refusal = await send(write, limited, isLate);
          results.set(write, refusal?.result ?? 'ok');
          if (refusal?.holdsFor === undefined) answered.add(namespace);
          else refused.set(refusal.holdsFor === 'all' ? ALL : namespace, refusal.result);
        });
      try {
        const batch = free.toSorted((a, b) => a.growth - b.growth).slice(0, BATCH);
        await sendAll(batch.filter(({ growth }) => growth <= 0));
        // Where what pays for them was refused, raises wait for the next tick.
        await sendAll(batch.filter(({ growth }) => growth > 0));
        for (const namespace of isLate() ? answered : []) refused.delete(namespace);
        if (isLate() && answered.size === 0) refused.set(ALL, late.result);
        for (const what of [ALL, ...new Set([...results.keys()].map(namespaceOf))]) {
          const result = refused.get(what);
          // Where all wait, whom it began with waits for longer: it may be the only one in whose way something is.
          const least = what !== ALL && refused.has(ALL) ? 2 * FIRST_PAUSE : FIRST_PAUSE;
          if (result !== undefined) pause(what, result, least);
          else if (!refused.has(ALL)) pauses.delete(what);
        }
        return writes.map((each) => results.get(each));
      } finally {
        timer.cancel();
      }
    },
    isWaiting: (namespace) =>
      namespace === undefined ? [...pauses.keys()].some(isPaused) : isPaused(ALL) || isPaused(namespace),
  };
}

/**
 * No answer in time: of the server, or of a webhook that is there for this namespace only, and holds up all that comes
 * behind it.
 */
const late = { result: 'failed', holdsFor: 'namespace' } as const satisfies Refusal;

function namespaceOf({ object }: PendingWrite): string {
  return object.metadata?.namespace ?? '';
}

/** Troubles that are told; beyond these they are told anew. */
const MOST_TOLD = 500;

/** The same trouble, of all, of a namespace or of one object, is told once until it ends, or is another one. */
function createTrouble(log: Logger) {
  const told = new Map<string, Refusal['result']>();
  const keysOf = ({ namespace, name }: NonNullable<PodAllocation['metadata']>) =>
    ({ all: ALL, namespace: `${namespace}/`, one: `${namespace}/${name}` }) as const;
  return {
    tell(refusal: Refusal, error: unknown, { metadata = {}, spec }: PodAllocation): void {
      const { result, holdsFor = 'one' } = refusal;
      const key = keysOf(metadata)[holdsFor];
      if (result === 'gone' || told.get(key) === result) return;
      if (told.size >= MOST_TOLD) told.clear();
      told.set(key, result);
      log.warn({ pod: `${metadata.namespace}/${spec?.podName ?? metadata.name}`, error }, refusalText(refusal, error));
    },
    /** It got through. */
    end({ metadata = {} }: PodAllocation): void {
      if (told.size === 0) return;
      const { all, namespace, one } = keysOf(metadata);
      told.delete(one);
      const [wasAll, wasNamespace] = [told.delete(all), told.delete(namespace)];
      if (wasAll) log.info({}, 'PodAllocations can be written again');
      else if (wasNamespace) log.info({ namespace: metadata.namespace }, 'PodAllocations can be written again');
    },
  };
}
