/** What every call passes before it reaches the operations: the access record, authorization, and scripted faults. */
import type { AccessLog } from './access-log.ts';
import type { ListQuery, ListResult } from './reader.ts';
import type { Caller } from './request.ts';
import type { ServedType } from './served-type.ts';
import type { OpenWatch, WatchSink } from './watcher.ts';

export interface RequestInfo {
  readonly caller: Caller;
  readonly verb: string;
  readonly type: ServedType;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
}

/** A sink whose end may be a broken connection. */
export interface StreamSink extends Omit<WatchSink, 'end'> {
  end(error?: unknown): void;
}

export interface Gate {
  /** Throws or rejects when the call must fail; a promise when it must wait first. */
  enter(info: RequestInfo): Promise<void> | undefined;
  /** A list as it was some time ago, where a fault asks for it. */
  readStale?(info: RequestInfo, query: ListQuery): ListResult | undefined;
  /** Wraps the sink of a watch where a fault disturbs its events. */
  watchSink(info: RequestInfo, sink: StreamSink): StreamSink;
  /** Tells of an open watch, so that a fault can end it later. */
  watchOpened(info: RequestInfo, open: OpenWatch, sink: StreamSink): void;
}

/** Throws 403 when the caller may not do it. */
export type Authorize = (info: RequestInfo) => void;

export interface GateOptions {
  readonly accessLog: AccessLog;
  readonly authorize: Authorize | undefined;
}

export function createGate({ accessLog, authorize }: GateOptions): Gate {
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
      authorize?.(info);
      return undefined;
    },
    watchSink: (_info, sink) => sink,
    watchOpened: () => undefined,
  };
}
