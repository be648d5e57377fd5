/** One HTTP/2 connection: streams within the peer's limit, and a PING that finds a frozen or half-open server. */
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { createDeferred } from '../../lib/deferred.ts';
import { watchPings } from './ping-watch.ts';
import { createSemaphore } from './semaphore.ts';
import { ConnectionError, type TransportRequest, type TransportResponse } from './transport.ts';

/** One connection from its handshake to its end; never reused after that. */
export interface Http2Session {
  /**
   * Resolves when the server's settings are known: before, its stream limit is a guess, and streams beyond it are
   * refused. Rejects when the connection ends first.
   */
  readonly ready: Promise<void>;
  readonly streamsInUse: number;
  readonly streamsWaiting: number;
  readonly streamLimit: number;
  /** Takes no more requests: going away, broken or closed. Streams already open may still finish. */
  readonly isDraining: boolean;
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Takes no more requests; the connection ends with its last stream. */
  drain(): void;
  /** Ends the connection now; open streams fail with `error`. */
  destroy(error: ConnectionError): void;
}

export interface Http2SessionOptions {
  readonly origin: string;
  readonly socket: Socket;
  readonly clock: Clock;
  /** Told once, when the connection is gone. */
  readonly onClose: () => void;
}

/** For servers that name no limit; the Kubernetes API server names 100. */
const DEFAULT_STREAM_LIMIT = 100;
/** Settings are the first thing a server sends (RFC 9113, 3.4). */
const SETTINGS_TIMEOUT_MILLIS = 10_000;
/** Flow-control windows: enough for full speed at 20 ms of latency, little enough to bound memory. */
const STREAM_WINDOW_BYTES = 1 << 18;
const CONNECTION_WINDOW_BYTES = 1 << 20;

export function createHttp2Session(options: Http2SessionOptions): Http2Session {
  const { origin, socket, clock, onClose } = options;
  const session = http2.connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    // Megabytes. Beyond Node's default of 10 a connection with many unread answers refuses new streams.
    maxSessionMemory: 64,
  });
  const streams = createSemaphore(DEFAULT_STREAM_LIMIT);
  const ready = createDeferred<void>();
  let isDraining = false;
  let failure: ConnectionError | undefined;

  const stopTaking = (error: ConnectionError): void => {
    isDraining = true;
    streams.fail(error);
  };
  const goneAway = (): ConnectionError =>
    new ConnectionError('The API server is closing this connection.', { isUnprocessed: true });
  const destroy = (error: ConnectionError): void => {
    failure ??= error;
    stopTaking(error);
    session.destroy(error);
  };

  const endPings = watchPings({
    session,
    socket,
    clock,
    onFrozen: (millis) =>
      destroy(new ConnectionError(`The API server did not answer a ping within ${millis / 1000} s.`)),
  });

  session.on('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
  const settingsTimer = clock.setTimer(SETTINGS_TIMEOUT_MILLIS, () =>
    destroy(
      new ConnectionError(`The server at ${origin} accepted HTTP/2 but did not begin it.`, { isUnprocessed: true }),
    ),
  );
  session.on('remoteSettings', (settings) => {
    settingsTimer.cancel();
    ready.resolve();
    if (settings.maxConcurrentStreams !== undefined) streams.setLimit(settings.maxConcurrentStreams);
  });
  session.on('goaway', () => stopTaking(goneAway()));
  session.on('error', (cause) => {
    failure ??= new ConnectionError(`The connection to ${origin} broke`, { cause });
    stopTaking(failure);
  });
  session.on('close', () => {
    endPings();
    settingsTimer.cancel();
    ready.reject(failure ?? goneAway());
    stopTaking(goneAway());
    // A clean close with streams still waiting for an answer does not always close the socket under it.
    socket.destroy();
    onClose();
  });

  /** Resolves with the head of the answer; `release` is called when the stream is closed, whatever became of it. */
  const open = (request: TransportRequest, release: () => void): Promise<TransportResponse> =>
    new Promise((resolve, reject) => {
      // A permit may be granted in the moment the connection goes away, or whoever asked does.
      request.signal.throwIfAborted();
      if (isDraining || session.closed || session.destroyed) throw goneAway();
      const stream = session.request(
        { ':method': request.method, ':path': request.path, ...request.headers },
        { endStream: request.body === undefined },
      );
      let hasAnswered = false;
      const onAbort = (): void => {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        stream.destroy(request.signal.reason instanceof Error ? request.signal.reason : new Error('aborted'));
      };
      request.signal.addEventListener('abort', onAbort, { once: true });
      stream.on('response', (headers) => {
        hasAnswered = true;
        resolve({ status: Number(headers[':status'] ?? 0), headers, body: stream, wasCut: () => isCut(stream) });
      });
      stream.on('error', (cause) => {
        if (!hasAnswered) reject(request.signal.aborted ? request.signal.reason : translate(stream, cause));
      });
      stream.on('close', () => {
        request.signal.removeEventListener('abort', onAbort);
        release();
        if (!hasAnswered) reject(request.signal.aborted ? request.signal.reason : translate(stream, undefined));
      });
      if (request.body !== undefined) stream.end(request.body);
    });

  const isCut = (stream: http2.ClientHttp2Stream): boolean =>
    stream.rstCode !== undefined && stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR;

  /** What a stream that ended without an answer means to its caller. */
  const translate = (stream: http2.ClientHttp2Stream, cause: unknown): ConnectionError => {
    // REFUSED_STREAM: the server vouches that it did nothing (RFC 9113, 8.7); it answers so beyond GOAWAY's last
    // stream.
    const isUnprocessed = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
    if (failure !== undefined && !isUnprocessed) return failure;
    return new ConnectionError('The connection ended before the API server answered', { cause, isUnprocessed });
  };

  return {
    ready: ready.promise,
    get streamsInUse() {
      return streams.inUse;
    },
    get streamsWaiting() {
      return streams.waiting;
    },
    get streamLimit() {
      return streams.limit;
    },
    get isDraining() {
      return isDraining;
    },
    async request(request) {
      const release = await streams.acquire(request.signal);
      try {
        return await open(request, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    drain() {
      stopTaking(goneAway());
      session.close();
    },
    destroy,
  };
}
