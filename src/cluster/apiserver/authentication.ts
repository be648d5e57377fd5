/** Who calls: bearer tokens that can expire and be revoked, client certificates, impersonation by administrators. */
import type { Clock } from '../../lib/clock.ts';
import { type Caller, CLUSTER_ADMIN, callerNamed } from './request.ts';
import { forbidden, unauthorized } from './status-error.ts';

/** What a call brings along; empty texts where it brings nothing. */
export interface Credentials {
  /** The Authorization header. */
  readonly authorization: string;
  /** Subject of a verified client certificate: common name and organisations. */
  readonly certificate?: { readonly commonName: string; readonly organizations: readonly string[] } | undefined;
  readonly impersonateUser: string;
  readonly impersonateGroups: readonly string[];
}

/**
 * Expired and revoked tokens are refused from the next call on; watches that are open stay so, as on the real server.
 */
export interface Authentication {
  /** Accepts `token` for `user`, for `lifetimeMillis` from now when given. From the first token on, unknown callers are refused. */
  addToken(token: string, user: string | Caller, lifetimeMillis?: number): void;
  /** The token is refused from now on. */
  revokeToken(token: string): void;
  /** Who the token stands for now; undefined when it is unknown or expired. */
  callerOf(token: string): Caller | undefined;
  /** Throws 401 for callers nobody knows. */
  identify(credentials: Credentials): Caller;
}

export interface AuthenticationOptions {
  readonly clock: Clock;
  /** Callers without credentials become `system:anonymous`, whom only roles can let in; needs RBAC to be enforced. */
  readonly anonymous: boolean;
}

const ANONYMOUS: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

export function createAuthentication({ clock, anonymous }: AuthenticationOptions): Authentication {
  const tokens = new Map<string, { readonly caller: Caller; readonly expiresAtMillis: number }>();
  let required = anonymous;

  const callerOf = (token: string): Caller | undefined => {
    const known = tokens.get(token);
    return known === undefined || known.expiresAtMillis <= clock.now() ? undefined : known.caller;
  };

  const authenticate = ({ authorization, certificate }: Credentials): Caller => {
    const bearer = /^Bearer\s+(.+)$/i.exec(authorization)?.[1];
    if (bearer !== undefined && required) {
      const caller = callerOf(bearer.trim());
      if (caller === undefined) throw unauthorized();
      return caller;
    }
    if (certificate !== undefined) return callerNamed(certificate.commonName, certificate.organizations);
    if (!required) return CLUSTER_ADMIN;
    if (anonymous) return ANONYMOUS;
    throw unauthorized();
  };

  return {
    addToken(token, user, lifetimeMillis) {
      required = true;
      const caller = typeof user === 'string' ? callerNamed(user) : user;
      tokens.set(token, {
        caller,
        expiresAtMillis: lifetimeMillis === undefined ? Number.POSITIVE_INFINITY : clock.now() + lifetimeMillis,
      });
    },
    revokeToken: (token) => void tokens.delete(token),
    callerOf,
    identify(credentials) {
      const caller = authenticate(credentials);
      const { impersonateUser, impersonateGroups } = credentials;
      if (impersonateUser === '') return caller;
      if (!caller.groups.includes('system:masters')) {
        throw forbidden(
          { group: '', plural: 'users' },
          impersonateUser,
          `User ${JSON.stringify(caller.name)} cannot impersonate resource "users" in API group "" at the cluster scope`,
        );
      }
      return callerNamed(impersonateUser, impersonateGroups);
    },
  };
}
