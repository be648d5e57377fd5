/** Opens a TLS connection to a server and finds out which protocol it speaks. */
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../deadline.ts';
import { rootCertificates } from './root-certificates.ts';
import { ConnectionError, type TlsMaterial } from './transport.ts';

/** For TCP and TLS together. */
const DIAL_TIMEOUT_MILLIS = 10_000;
/** TCP keepalive: keeps the connection in the tables of middleboxes and finds hosts that are gone. */
export const KEEPALIVE_MILLIS = 30_000;

export interface DialOptions {
  readonly server: URL;
  /** What it is, for people; default: the API server. */
  readonly name?: string;
  readonly material: TlsMaterial;
  readonly protocols: readonly string[];
  /** From an earlier connection made with the same material: shortens the handshake. */
  readonly session?: Buffer;
  /** Default: straight to the server. */
  readonly proxy?: URL;
  readonly clock: Clock;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/** The port that is written, or the scheme's own. */
export function portOf(server: URL): number {
  return server.port === '' ? (server.protocol === 'http:' ? 80 : 443) : Number(server.port);
}

/** The host without the brackets of an IPv6 address. */
export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, '');
}

/** Material in the words of `node:tls`. */
export function tlsOptions(server: URL, material: TlsMaterial): tls.SecureContextOptions & tls.ConnectionOptions {
  const host = hostOf(server);
  const isAddress = /^[0-9.]+$/.test(host) || host.includes(':');
  return {
    host,
    port: portOf(server),
    // SNI must not be an address (RFC 6066); the certificate is then checked against the address itself.
    ...(material.serverName !== undefined
      ? { servername: material.serverName }
      : isAddress
        ? {}
        : { servername: host }),
    rejectUnauthorized: material.isInsecure !== true,
    ...contextOptions(material),
  };
}

function contextOptions({
  ca = '',
  certificate,
  privateKey,
}: TlsMaterial): tls.SecureContextOptions & tls.ConnectionOptions {
  const own: tls.SecureContextOptions = {
    ...(certificate !== undefined && { cert: certificate }),
    ...(privateKey !== undefined && { key: privateKey }),
    minVersion: 'TLSv1.2',
  };
  if (ca !== '') return { ...own, ca };
  const roots = rootCertificates();
  // Made here, as agents would read the long list anew for each connection, and compare it for each request.
  return roots === undefined ? own : { secureContext: tls.createSecureContext({ ...own, ca: roots }) };
}

/**
 * @throws ConnectionError (nothing was sent) when the server cannot be reached, does not answer within 10 s, or its
 *   certificate is not trusted.
 */
export async function dialTls(options: DialOptions): Promise<tls.TLSSocket> {
  const through = options.proxy && (await tunnelThrough(options.proxy, options));
  if (options.signal.aborted) through?.destroy();
  return await handshake(options, through);
}

/** @param through what leads there; left out, a connection of its own. */
function handshake(options: DialOptions, through?: Socket): Promise<tls.TLSSocket> {
  const { server, name, material, protocols, session, clock, signal } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = tls.connect({
      ...tlsOptions(server, material),
      ...(through !== undefined && { socket: through }),
      ALPNProtocols: [...protocols],
      ...(session !== undefined && { session }),
    });
    const settle = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail);
    };
    const onAbort = (): void => fail(signal.reason);
    const fail = (cause: unknown): void => {
      settle();
      // What a socket has to say after this is of no interest to anybody.
      socket.on('error', () => {});
      socket.destroy();
      reject(new ConnectionError(cannotConnect(server, name), { cause, isUnprocessed: true }));
    };
    const timer = clock.setTimer(DIAL_TIMEOUT_MILLIS, () => fail(noAnswer()));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      settle();
      socket.setKeepAlive(true, KEEPALIVE_MILLIS);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** @throws ConnectionError (nothing was sent) naming the proxy, without who signs in there. */
async function tunnelThrough(proxy: URL, { server, name, clock, signal }: DialOptions): Promise<Socket> {
  // Loaded only where there is a proxy.
  const { openTunnel } = await import('./tunnel.ts');
  const target = `${server.hostname}:${portOf(server)}`;
  const what = `Connecting through the proxy ${proxy.origin}`;
  const deadline = startDeadline(clock, DIAL_TIMEOUT_MILLIS, what, signal);
  try {
    return await openTunnel({ proxy, address: tlsOptions(proxy, {}), target, signal: deadline.signal });
  } catch (error) {
    const isLate = deadline.signal.aborted && !signal.aborted;
    // The deadline's own words are of the API server, which was not asked yet.
    const cause = isLate ? noAnswer() : signal.aborted ? signal.reason : error;
    throw new ConnectionError(`${cannotConnect(server, name)} through the proxy ${proxy.origin}`, {
      cause,
      isUnprocessed: true,
    });
  } finally {
    deadline.end();
  }
}

const noAnswer = (): Error => new Error(`no answer within ${DIAL_TIMEOUT_MILLIS / 1000} s`);

function cannotConnect({ origin }: URL, name = 'the API server'): string {
  return `Cannot connect to ${name} at ${origin}`;
}
