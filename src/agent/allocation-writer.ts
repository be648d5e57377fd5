/**
 * The agent's only writer: PodAllocations of its own node's pods, by server-side apply. It paces itself, gives up what
 * has grown old, and when the server refuses it waits longer each time. It never deletes and never writes pods.
 */
import type { KubeApi, Patch } from '../api/kube-api.ts';
import {
  isForbidden,
  isInvalid,
  isNotFound,
  isUnauthorized,
  KubeError,
  missingRight,
  rightText,
} from '../api/kube-error.ts';
import { AGENT_FIELD_MANAGER, type PodAllocation, podAllocations } from '../api/pod-allocation.ts';
import { APPLY_DEFINITIONS } from '../api/pruned-field.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { severalAtOnce } from '../lib/several-at-once.ts';
import type { Millis } from '../lib/units.ts';

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

/**
 * `denied`: no right to it. `missing`: the definition is not installed. `rejected`: this one object, the others may go
 * on. `gone`: what was to be annotated is no longer there. `failed`: no answer, or trouble of the server.
 */
export type WriteResult = 'ok' | 'denied' | 'missing' | 'rejected' | 'gone' | 'failed';

/** One batch at a time: the caller waits for it, as a plan made meanwhile would not know what got through. */
export interface AllocationWriter {
  /**
   * Writes them all, decreases first.
   * @returns the result of each, in order; `undefined` for those not sent: the writer is waiting, or time was up.
   */
  write(writes: readonly PendingWrite[], signal: AbortSignal): Promise<readonly (WriteResult | undefined)[]>;
  /** Whether it is waiting because the server refused. */
  isWaiting(): boolean;
}

export interface AllocationWriterOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly log: Logger;
  /** A write that takes longer is given up: by then it would be about the past. */
  readonly deadlineMillis: Millis;
}

/** At once, so that a node full of new pods does not crowd out its neighbours at the API server. */
const CONCURRENCY = 4;
/** In one go; the rest comes with the next tick, newly planned, instead of growing old in a queue. */
const BATCH = 32;
/** After the first refusal; doubled with each further one, up to {@link LONGEST_PAUSE}. */
const FIRST_PAUSE: Millis = 2000;
/** The operator takes an agent for gone after two minutes (`allocation.staleAfter`): pauses stay well below. */
const LONGEST_PAUSE: Millis = 60_000;

export function createAllocationWriter(options: AllocationWriterOptions): AllocationWriter {
  const { api, clock, monotonic, log, deadlineMillis } = options;
  let pauseMillis = 0;
  let resumeMillis = 0;
  let lastTold = '';

  const send = async ({ object, isAnnotation }: PendingWrite, signal: AbortSignal): Promise<WriteResult> => {
    const { name = '', namespace = '' } = object.metadata ?? {};
    try {
      const patch: Patch =
        isAnnotation === true ? { type: 'merge', body: object } : { type: 'apply', body: object, force: true };
      await api.patch(podAllocations, name, patch, {
        namespace,
        fieldManager: AGENT_FIELD_MANAGER,
        signal,
        // Beside the watches: a connection of its own for a write now and then would cost memory on every node.
        lane: 'bulk',
      });
      return 'ok';
    } catch (error) {
      const result = resultOf(error);
      tell(result, error, object);
      return result;
    }
  };
  /** The same trouble is told once until something else happens. */
  const tell = (result: WriteResult, error: unknown, { metadata, spec }: PodAllocation): void => {
    if (result === 'gone') return;
    const pod = `${metadata?.namespace}/${spec?.podName ?? metadata?.name}`;
    const key = result === 'rejected' ? `${result} ${pod}` : result;
    if (key === lastTold) return;
    lastTold = key;
    log.warn({ pod, error }, result === 'denied' ? deniedText(error) : messages[result]);
  };
  /** In parallel, and no more once one was refused for a reason that holds for all. */
  const sendAll = async (writes: readonly PendingWrite[], signal: AbortSignal) => {
    const results = new Map<PendingWrite, WriteResult>();
    await severalAtOnce(writes, CONCURRENCY, async (write) => {
      if (!signal.aborted && !isRefused(results)) results.set(write, await send(write, signal));
    });
    return results;
  };

  return {
    async write(writes, signal) {
      if (writes.length === 0 || monotonic() < resumeMillis) return writes.map(() => undefined);
      const deadline = new AbortController();
      const timer = clock.setTimer(deadlineMillis, () => deadline.abort(new Error('The write took too long.')));
      const limited = AbortSignal.any([signal, deadline.signal]);
      try {
        const batch = [...writes].sort((a, b) => a.growth - b.growth).slice(0, BATCH);
        const sorted = (growing: boolean) => batch.filter(({ growth }) => growth > 0 === growing);
        const decreases = await sendAll(sorted(false), limited);
        // Where what pays for them was refused, raises wait for the next tick.
        const increases = isRefused(decreases)
          ? new Map<PendingWrite, WriteResult>()
          : await sendAll(sorted(true), limited);
        const results = writes.map((each) => decreases.get(each) ?? increases.get(each));
        const isRefusedNow = isRefused(decreases) || isRefused(increases);
        pauseMillis = isRefusedNow ? Math.min(LONGEST_PAUSE, Math.max(FIRST_PAUSE, pauseMillis * 2)) : 0;
        resumeMillis = monotonic() + pauseMillis;
        if (!isRefusedNow && results.includes('ok')) {
          if (lastTold !== '') log.info({}, 'PodAllocations can be written again');
          lastTold = '';
        }
        return results;
      } finally {
        timer.cancel();
      }
    },
    isWaiting: () => monotonic() < resumeMillis,
  };
}

/** By what is missing: a right, with the role that has it, or a token; else a rule of admission is in the way. */
function deniedText(error: unknown): string {
  const right = missingRight(error);
  const refused = isUnauthorized(error)
    ? 'the API server does not accept the token of the account'
    : 'admission refuses them, as the error says';
  const cause =
    right === undefined
      ? refused
      : `the account may not ${rightText(right)}; the ClusterRole of the agent has the right (NAME-agent of the chart, charts/stowage/templates/agent/rbac.yaml)`;
  return `PodAllocations cannot be written: ${cause}. Nothing changes on pods; trying again with growing pauses`;
}

const messages: Readonly<Record<Exclude<WriteResult, 'denied'>, string>> = {
  ok: '',
  gone: '',
  missing: `PodAllocations cannot be written: their definition is not installed (\`${APPLY_DEFINITIONS}\`). Trying again with growing pauses`,
  rejected: 'A PodAllocation was refused; the pod keeps what it has',
  failed: 'PodAllocations cannot be written at the moment; trying again with growing pauses',
};

/** All will fare alike: there is no point in trying the next one. */
function isRefused(results: ReadonlyMap<PendingWrite, WriteResult>): boolean {
  return [...results.values()].some((result) => result === 'denied' || result === 'missing' || result === 'failed');
}

/** The order matters: a namespace that is ending answers 403 and 404 as well, and says nothing about others. */
function resultOf(error: unknown): WriteResult {
  if (isForbidden(error)) {
    // A namespace on its way out takes nothing new; that says nothing about other pods.
    return causesOf(error).includes('NamespaceTerminating') ? 'rejected' : 'denied';
  }
  if (isUnauthorized(error)) return 'denied';
  if (isInvalid(error)) return 'rejected';
  if (isNotFound(error)) {
    const { kind, name } = error.status?.details ?? {};
    if (kind === 'namespaces') return 'rejected';
    return name === undefined ? 'missing' : 'gone';
  }
  if (error instanceof KubeError && error.httpStatus === 409) return 'rejected';
  return 'failed';
}

function causesOf(error: KubeError): readonly (string | undefined)[] {
  return (error.status?.details?.causes ?? []).map(({ reason }) => reason);
}
