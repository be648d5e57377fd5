/**
 * The HTTP/2 connections of one lane: dialled when needed, replaced when they go away or their TLS material changes.
 */
import { untilAborted } from '../../lib/until-aborted.ts';
import type { Http2Session } from './http2-session.ts';
import { ConnectionError, type TransportRequest, type TransportResponse } from './transport.ts';

export interface Http2Lane {
  request(request: TransportRequest): Promise<TransportResponse>;
  /** No new request goes over the present connections; those under way finish. */
  drain(): void;
  /** Ends all connections, those being opened among them; every request fails with `error`, also what comes later. */
  destroy(error: ConnectionError): void;
  /** There is a connection, or one is being opened. */
  isInUse(): boolean;
}

/**
 * Streams of watches last for minutes, and servers allow 100 a connection. When a connection is full another one is
 * opened, so that no request waits for a watch to end. Beyond so many connections requests queue.
 */
export const maxSessions = {
  /**
   * Every informer has one request under way, so this bounds only what is wrong. With Roles alone there is an informer
   * of each type in each namespace.
   */
  bulk: 100,
  /** What is written: a server that takes its time is not sent more. */
  control: 4,
} as const;
/**
 * So many connections that take nothing once they are open are enough. One whose places went to others is none: where
 * thousands of watches begin at once, the last of them waits for dozens.
 */
const MAX_USELESS = 8;

/**
 * @param dial opens a connection, unless the signal aborts; `onClose` must be called when it is gone.
 * @param most connections at a time.
 */
export function createHttp2Lane(
  dial: (onClose: () => void, signal: AbortSignal) => Promise<Http2Session>,
  most: number,
): Http2Lane {
  const sessions = new Set<Http2Session>();
  /** Shared by all requests that need it; not tied to the signal of any of them. */
  let dialling: Promise<Http2Session> | undefined;
  /** Grows with each drain: a connection dialled before is not used after. */
  let generation = 0;
  const end = new AbortController();
  let ended: ConnectionError | undefined;

  /** A connection may be gone, or unwanted, by the time it is open. */
  const dialOne = async (): Promise<Http2Session> => {
    const born = generation;
    let isGone = false;
    let session: Http2Session | undefined;
    session = await dial(() => {
      isGone = true;
      if (session !== undefined) sessions.delete(session);
    }, end.signal);
    if (!isGone) sessions.add(session);
    if (ended !== undefined) session.destroy(ended);
    if (born !== generation) session.drain();
    return session;
  };

  const dialShared = (): Promise<Http2Session> => {
    dialling ??= dialOne().finally(() => {
      dialling = undefined;
    });
    return dialling;
  };

  /** A connection with room, or the least crowded one when no more may be opened; undefined: open one. */
  const choose = (): Http2Session | undefined => {
    const usable = [...sessions].filter((session) => !session.isDraining);
    const free = usable.find((session) => session.streamsInUse + session.streamsWaiting < session.streamLimit);
    if (free !== undefined || usable.length < most) return free;
    return usable.sort((a, b) => a.streamsWaiting - b.streamsWaiting)[0];
  };

  return {
    async request(request) {
      request.signal.throwIfAborted();
      // Nothing is awaited between choosing a connection and taking a place on it: the place would go to another.
      for (let useless = 0; ; ) {
        if (ended !== undefined) throw ended;
        const session = choose();
        if (session !== undefined) return await session.request(request);
        if (useless >= MAX_USELESS)
          throw new ConnectionError('The API server closes each connection at once.', { isUnprocessed: true });
        const opened = await untilAborted(untilAborted(dialShared(), end.signal), request.signal);
        if (!sessions.has(opened) || opened.isDraining || opened.streamLimit === 0) useless++;
      }
    },
    drain() {
      generation++;
      for (const session of sessions) session.drain();
    },
    destroy(error) {
      ended = error;
      end.abort(error);
      for (const session of sessions) session.destroy(error);
    },
    isInUse: () => sessions.size > 0 || dialling !== undefined,
  };
}
