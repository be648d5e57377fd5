/** A PING now and then finds a frozen or half-open server, which a connection alone never does. */
import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../lib/clock.ts';

export interface PingWatchOptions {
  readonly session: Pick<ClientHttp2Session, 'destroyed' | 'ping'>;
  /** Under the session. */
  readonly socket: Pick<Socket, 'bytesRead'>;
  readonly clock: Clock;
  /** Nothing came in all the time that a ping may take. */
  readonly onFrozen: (waitedMillis: number) => void;
}

/**
 * client-go's numbers (ReadIdleTimeout and PingTimeout, kubernetes PR #95981): a frozen server is found within 45 s. A
 * ping without a deadline for its pong finds nothing.
 */
const PING_INTERVAL_MILLIS = 30_000;
const PONG_TIMEOUT_MILLIS = 15_000;

/** @returns ends it. */
export function watchPings({ session, socket, clock, onFrozen }: PingWatchOptions): () => void {
  let timer: Timer;
  const wait = (): void => {
    timer = clock.setTimer(PING_INTERVAL_MILLIS, ping);
  };
  const ping = (): void => {
    // A broken session is destroyed before it tells so; Node throws at a ping in between.
    if (session.destroyed) return;
    const readBefore = socket.bytesRead;
    // On a slow link the pong may wait behind a large answer; whoever sends bytes is not frozen.
    const judge = (): void => (socket.bytesRead === readBefore ? onFrozen(PONG_TIMEOUT_MILLIS) : wait());
    // After a stall of this process the deadline comes first, though the pong waits in the socket: one more turn of
    // the event loop lets it be read.
    timer = clock.setTimer(PONG_TIMEOUT_MILLIS, () => {
      timer = clock.setTimer(0, judge);
    });
    session.ping((error) => {
      if (error !== null || session.destroyed) return;
      timer.cancel();
      wait();
    });
  };
  wait();
  return () => timer.cancel();
}
