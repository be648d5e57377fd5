/**
 * The transport to one API server: HTTP/2 where the server offers it (ALPN), HTTP/1.1 otherwise, redialled as needed.
 */
import type tls from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { untilAborted } from '../../lib/until-aborted.ts';
import { dialTls } from './dial.ts';
import { createHttp1Transport } from './http1-transport.ts';
import { createHttp2Lane, maxSessions } from './http2-lane.ts';
import { createHttp2Session, type Http2Session } from './http2-session.ts';
import { ConnectionError, type TlsMaterial, type Transport } from './transport.ts';

export interface TransportOptions {
  readonly server: URL;
  /** The material to use now. Asked before each request; must be cheap, so cached. Not asked for `http:` servers. */
  readonly material: () => Promise<TlsMaterial>;
  /** Called when a connection was refused for its certificate: the authority may just have been replaced. */
  readonly onUntrusted: () => void;
  readonly clock: Clock;
  /** Default: straight to the server. */
  readonly proxy?: URL;
}

/**
 * A load balancer that was replaced, or a server that was upgraded, may speak HTTP/2 by now: so often it is offered
 * again. One handshake then tells.
 */
const HTTP1_MILLIS: Millis = 600_000;

/** The server does not speak HTTP/2: the lane gives up and the transport goes on with HTTP/1.1, for a while. */
class ProtocolFallbackError extends Error {
  override readonly name = 'ProtocolFallbackError';
}

/** Transport for one set of TLS material. */
interface Generation {
  readonly fingerprint: string;
  readonly transport: Transport;
  /** Let what runs finish, take nothing new. */
  retire(): void;
  isInUse(): boolean;
}

/**
 * Connections are dialled when they are needed. With new material (a rotated certificate) requests go over new
 * connections, while those under way finish on the old.
 */
export function createTransport(options: TransportOptions): Transport {
  const { server, clock } = options;
  const plain = server.protocol === 'http:' ? createHttp1Transport({ server, material: {}, clock }) : undefined;
  let current: Generation | undefined;
  /**
   * With other material, until the last answer over it has ended: a watch may go on for minutes with a certificate that
   * was replaced, which the server accepted when it began.
   */
  let retired: readonly Generation[] = [];
  let isClosed = false;
  const throwIfClosed = (): void => {
    if (isClosed) throw closedError({ isUnprocessed: true });
  };

  /** The transport for the material of now; with other material, what was there is retired. */
  const generationFor = async (): Promise<Generation> => {
    const material = await options.material();
    throwIfClosed();
    const fingerprint = JSON.stringify(material);
    if (current?.fingerprint !== fingerprint) {
      current?.retire();
      retired = [...retired, ...(current === undefined ? [] : [current])].filter((generation) => generation.isInUse());
      current = createGeneration(options, material, fingerprint);
    }
    return current;
  };

  return {
    async request(request) {
      throwIfClosed();
      if (plain !== undefined) return await plain.request(request);
      // Certificates may come from a plugin that hangs; the request must not hang with it.
      const { transport } = await untilAborted(generationFor(), request.signal);
      return await transport.request(request);
    },
    close() {
      isClosed = true;
      plain?.close();
      for (const { transport } of retired) transport.close();
      current?.transport.close();
    },
  };
}

function createGeneration(options: TransportOptions, material: TlsMaterial, fingerprint: string): Generation {
  const { server, clock, onUntrusted, proxy } = options;
  const way = { server, clock, ...(proxy && { proxy }) };
  const http1 = createHttp1Transport({ ...way, material });
  /** HTTP/2 was not offered; undefined where it was, or was never asked for. */
  let refusedAt: EpochMillis | undefined;
  /** TLS session of the last connection, for a shorter handshake on the next. */
  let ticket: Buffer | undefined;

  const dialHttp2 = async (onClose: () => void, signal: AbortSignal): Promise<Http2Session> => {
    const socket = await dialTls({
      ...way,
      material,
      protocols: ['h2', 'http/1.1'],
      signal,
      ...(ticket !== undefined && { session: ticket }),
    }).catch((error: unknown) => {
      ticket = undefined;
      if (isTrustFailure(error)) onUntrusted();
      throw error;
    });
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      refusedAt = clock.now();
      throw new ProtocolFallbackError();
    }
    refusedAt = undefined;
    rememberTicket(socket);
    const session = createHttp2Session({ origin: server.origin, socket, clock, onClose });
    const onAbort = (): void => session.destroy(closedError());
    signal.addEventListener('abort', onAbort, { once: true });
    await session.ready.finally(() => signal.removeEventListener('abort', onAbort));
    return session;
  };
  // Of a clock set back nothing is known: better a handshake too many.
  const isRecent = (at: EpochMillis): boolean => Math.abs(clock.now() - at) < HTTP1_MILLIS;
  const rememberTicket = (socket: tls.TLSSocket): void => {
    socket.on('session', (session) => {
      ticket = session;
    });
  };
  const lanes = {
    bulk: createHttp2Lane(dialHttp2, maxSessions.bulk),
    control: createHttp2Lane(dialHttp2, maxSessions.control),
  };

  return {
    fingerprint,
    transport: {
      async request(request) {
        if (refusedAt !== undefined && isRecent(refusedAt)) return await http1.request(request);
        try {
          return await lanes[request.lane].request(request);
        } catch (error) {
          if (error instanceof ProtocolFallbackError) return await http1.request(request);
          throw error;
        }
      },
      close() {
        lanes.bulk.destroy(closedError());
        lanes.control.destroy(closedError());
        http1.close();
      },
    },
    retire() {
      lanes.bulk.drain();
      lanes.control.drain();
      http1.drain();
    },
    isInUse: () => lanes.bulk.isInUse() || lanes.control.isInUse() || http1.isInUse(),
  };
}

const closedError = (options: { readonly isUnprocessed?: boolean } = {}): ConnectionError =>
  new ConnectionError('The client was closed.', options);

/** The server's certificate was not accepted (OpenSSL verify codes, as Node names them). */
function isTrustFailure(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /CERT|ISSUER|SIGNATURE|SELF_SIGNED/.test(code);
}
