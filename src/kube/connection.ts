/**
 * Where an API server is and how to prove who we are: what in-cluster files, kubeconfigs and tests all come down to.
 */
import type { TlsMaterial } from './transport/transport.ts';

/** What proves our identity. Either part may be missing; with neither, requests are anonymous. */
export interface Credentials {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  /** Client certificate and key, PEM. */
  readonly certificate?: string;
  readonly privateKey?: string;
}

/** Credentials that may change over time. */
export interface CredentialSource {
  /** The credentials to use now; cached, so cheap to ask before each request. */
  current(): Promise<Credentials>;
  /**
   * The API server refused these (401): get new ones at the next call, whatever their age. Nothing happens when they
   * were replaced meanwhile, so that many refused requests cause one renewal.
   */
  invalidate(refused: Credentials): void;
}

/** Act as another user (impersonation headers). */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** All that is needed to talk to one API server; makes no connection by itself. */
export interface Connection {
  /** `https:` or `http:`, with the path prefix some proxies need. */
  readonly server: URL;
  /** For messages: where the connection was read from, e.g. `context kind of /home/a/.kube/config`. */
  readonly description: string;
  /** Namespace of the context, or of the pod; `default` where none is given. */
  readonly namespace: string;
  readonly credentials: CredentialSource;
  /** `http:` or `https:`: the way to an https server leads through it. */
  readonly proxy?: URL;
  /** How the server is checked; re-read when files change. */
  readonly trust: TrustSource;
  readonly impersonation?: Impersonation;
}

/** What the server's certificate is checked by. */
export interface TrustSource {
  current(): Promise<Pick<TlsMaterial, 'ca' | 'serverName' | 'isInsecure'>>;
  /** A connection was refused for the server's certificate: read anew at the next call. */
  invalidate(): void;
}

/** Trust that never changes. */
export function fixedTrust(trust: Awaited<ReturnType<TrustSource['current']>>): TrustSource {
  return { current: async () => trust, invalidate() {} };
}

/** Headers that make the API server act as another user; those with several values are sent once a value. */
export function impersonationHeaders(impersonation: Impersonation | undefined): Record<string, string | string[]> {
  if (impersonation === undefined) return {};
  const { user, uid, groups = [], extra = {} } = impersonation;
  return {
    'impersonate-user': user,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  };
}
