/** What the client asks of a connection to the API server, whatever protocol it speaks. */
import type { Readable } from 'node:stream';
import { StowageError } from '../../lib/errors.ts';

/** Two lanes, two connections: a 200 MB listing on one never delays a lease renewal on the other. */
export type Lane = 'bulk' | 'control';

/** Complete as it is: nothing is added on the way but what the protocol needs. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, already encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  readonly lane: Lane;
  /** Ends the request and its answer, on the wire too, wherever they are. */
  readonly signal: AbortSignal;
  /**
   * HTTP/1.1 only, where there is no PING: a connection that brings no byte for so long is broken. Milliseconds; absent
   * for short requests, which have a deadline.
   */
  readonly maxSilenceMillis?: number;
}

/** The head of an answer, and its body as it arrives. Any status, errors too. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to the end or destroyed, or the request's place on the connection stays taken. */
  readonly body: Readable;
  /**
   * After the body's end: whether the connection was cut rather than the answer finished. A cut one may look like a
   * normal end.
   */
  readonly wasCut: () => boolean;
}

/** Retries nothing: whether a request may be sent again is known only to whoever made it. */
export interface Transport {
  /** @throws ConnectionError when the request could not be sent or answered; the signal's reason when it aborted. */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Ends everything. Requests under way fail with ConnectionError. */
  close(): void;
}

/** The connection failed: refused, reset, frozen, closed. Not an answer of the API server. */
export class ConnectionError extends StowageError {
  override readonly name = 'ConnectionError';
  /** True when the server certainly did not act on the request, so that sending it again is safe whatever it does. */
  readonly isUnprocessed: boolean;

  constructor(message: string, options: { readonly cause?: unknown; readonly isUnprocessed?: boolean } = {}) {
    super('KUBE_CONNECTION', message, { cause: options.cause });
    this.isUnprocessed = options.isUnprocessed ?? false;
  }
}

/** What a TLS connection to the API server is made with. */
export interface TlsMaterial {
  /** PEM. Absent: the machine's own trust store. */
  readonly ca?: string;
  /** Client certificate and key, PEM. */
  readonly certificate?: string;
  readonly privateKey?: string;
  /** The name to check the server's certificate against, where it differs from the host. */
  readonly serverName?: string;
  /** Accept any certificate. Only ever on the explicit wish of a kubeconfig. */
  readonly isInsecure?: boolean;
}
