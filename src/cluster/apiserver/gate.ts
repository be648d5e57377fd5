/** What every call passes before it reaches the operations: the access record, authorization, and scripted faults. */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { disturbSink, WATCH_EFFECTS } from '../faults/disturbed-sink.ts';
import { ConnectionDropped, type FaultEffect, type FaultSubject } from '../faults/fault.ts';
import type { FaultPlan } from '../faults/fault-plan.ts';
import { createOpenWatches } from '../faults/open-watches.ts';
import type { AccessLog } from './access-log.ts';
import type { Caller } from './request.ts';
import type { ServedType } from './served-type.ts';
import { failure } from './status-error.ts';
import type { WatchSink } from './watcher.ts';

/** What authorization, faults and the access record know of a call; its body is none of their business. */
export interface RequestInfo {
  readonly caller: Caller;
  readonly verb: string;
  readonly type: ServedType;
  readonly namespace: string | undefined;
  /** Empty for requests on a collection. */
  readonly name: string;
  /** The one name a list or watch asks for by its field selector; roles with `resourceNames` may allow it. */
  readonly selectedName?: string | undefined;
  readonly subresource: string;
  /** Ends when the client has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** A sink whose end may be a broken connection. */
export interface StreamSink extends Omit<WatchSink, 'end'> {
  end(error?: unknown): void;
}

/** Both clients pass it, so that whatever is recorded, forbidden or broken is so for all of them. */
export interface Gate {
  /** Throws or rejects when the call must fail; a promise when it must wait first. */
  enter(info: RequestInfo): Promise<void> | undefined;
  /** Carries out a write, or all of it two times: then the second time decides what the client is told. */
  perform<T>(info: RequestInfo, work: () => Promise<T>): Promise<T>;
  /** Throws {@link ConnectionDropped} when the answer must not arrive although the call was carried out. */
  leave(info: RequestInfo): void;
  /** How many writes old the state is that this read must be answered from; 0 is the newest. */
  staleness(info: RequestInfo): number;
  /** Wraps the sink of a watch where a fault disturbs its events; `stop` ends the watch at the server. */
  watchSink(info: RequestInfo, sink: StreamSink, stop: () => void): StreamSink;
}

/** Throws 403 when the caller may not do it. */
export type Authorize = (info: RequestInfo) => void;

export interface GateOptions {
  readonly accessLog: AccessLog;
  readonly authorize: Authorize | undefined;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
}

const ENTRY_EFFECTS = ['drop', 'outage', 'freeze', 'slow', 'status'] as const;

/** Reasons of the statuses faults are likely to use. */
const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function subjectOf({ caller, verb, type, namespace, subresource }: RequestInfo): FaultSubject {
  return { verb, resource: type.plural, subresource, user: caller.name, namespace: namespace ?? '' };
}

/**
 * A call is recorded first, then meets the faults, then is authorized: what a fault lets fail was still asked for, and
 * what waits is judged by the roles in force when it goes on.
 */
export function createGate({ accessLog, authorize, faults, clock, random }: GateOptions): Gate {
  const watches = createOpenWatches();
  faults.onAdd((fault) => {
    if (fault.effect.kind === 'outage') watches.breakThose(fault);
  });
  const wait = (millis: number | undefined, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = millis === undefined ? undefined : clock.setTimer(millis, () => finish(resolve));
      const onAbort = (): void => finish(() => reject(signal?.reason));
      const finish = (settle: () => void): void => {
        timer?.cancel();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });

  const suffer = async (effects: readonly FaultEffect[], signal: AbortSignal | undefined): Promise<void> => {
    for (const effect of effects) {
      if (effect.kind === 'slow' || effect.kind === 'freeze') await wait(effect.millis, signal);
      if (effect.kind === 'drop' || effect.kind === 'outage') throw new ConnectionDropped();
      if (effect.kind === 'status') {
        const { code, message = 'scripted fault', retryAfterSeconds } = effect;
        throw failure({
          code,
          reason: REASONS[code] ?? '',
          message,
          details: retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
        });
      }
    }
  };

  return {
    enter(info) {
      const { caller, verb, type, namespace, subresource } = info;
      accessLog.record({
        user: caller.name,
        verb,
        group: type.group,
        resource: type.plural,
        subresource,
        namespace: namespace ?? '',
      });
      const effects = faults.meet(subjectOf(info), ENTRY_EFFECTS);
      if (effects.length > 0) return suffer(effects, info.signal).then(() => authorize?.(info));
      authorize?.(info);
      return undefined;
    },
    perform(info, work) {
      const isRepeated = faults.meet(subjectOf(info), ['twice']).length > 0;
      return isRepeated ? work().then(work) : work();
    },
    leave(info) {
      if (faults.meet(subjectOf(info), ['drop-after']).length > 0) throw new ConnectionDropped();
    },
    staleness: (info) =>
      faults
        .meet(subjectOf(info), ['stale-reads'])
        .reduce((most, effect) => (effect.kind === 'stale-reads' ? Math.max(most, effect.revisions) : most), 0),
    watchSink(info, sink, stop) {
      const subject = subjectOf(info);
      const effects = faults.meet(subject, WATCH_EFFECTS);
      const isOver = faults.hasEnded;
      const disturbed = effects.length === 0 ? sink : disturbSink(sink, effects, { clock, random, stop, isOver });
      return watches.open(subject, disturbed, stop);
    },
  };
}
