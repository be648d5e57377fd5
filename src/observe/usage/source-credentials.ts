/**
 * What a source is spoken to with: headers and authority, from Secrets of the policy's own namespace, read when needed.
 */
import type { KubeApi } from '../../api/kube-api.ts';
import { isForbidden, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { PrometheusAccess, SecretKeyRef } from '../../model/policy-spec.ts';
import type { UsageProblem } from './usage-source.ts';

/** Never logged. */
export interface SourceCredentials {
  readonly headers: Readonly<Record<string, string>>;
  /** PEM; undefined: the machine's own trust store. */
  readonly ca: string | undefined;
}

/** What cannot be read is a problem of the policy, told without any value. */
export type CredentialsAnswer =
  | { readonly ok: true; readonly credentials: SourceCredentials }
  | { readonly ok: false; readonly problem: UsageProblem };

/** Asked before each request. */
export interface CredentialsReader {
  /** Rejects only with the signal's reason. */
  read(signal: AbortSignal): Promise<CredentialsAnswer>;
  /** The source refused them: they may just have been replaced. */
  refused(): void;
}

/** Rotated Secrets count after this long at the latest. */
const KEEP_MILLIS: Millis = 60_000;
/** Set by the client itself; a Secret must not steer the connection. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'content-type',
  'connection',
  'transfer-encoding',
  'upgrade',
]);
/** A token (RFC 9110, 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function createSecretCredentials(
  api: Pick<KubeApi, 'get'>,
  namespace: string,
  access: Partial<PrometheusAccess>,
  clock: Clock,
): CredentialsReader {
  const { headersSecret, bearerTokenSecret, caSecret } = access;
  let kept: { readonly credentials: SourceCredentials; readonly at: EpochMillis } | undefined;

  const secret = async (name: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> => {
    const { data = {} } = await api.get(resources.secrets, name, { namespace, signal });
    return new Map(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8').trim()]),
    );
  };
  const value = async (ref: SecretKeyRef, signal: AbortSignal): Promise<string> => {
    const text = (await secret(ref.name, signal)).get(ref.key);
    if (text === undefined || text === '')
      throw new UnusableSecretError(
        `the Secret ${namespace}/${ref.name} has no key ${JSON.stringify(ref.key)}, or it is empty`,
      );
    return text;
  };

  return {
    async read(signal) {
      if (kept !== undefined && clock.now() - kept.at < KEEP_MILLIS) return { ok: true, credentials: kept.credentials };
      try {
        const headers =
          headersSecret === undefined
            ? {}
            : checkHeaders(await secret(headersSecret, signal), `${namespace}/${headersSecret}`);
        if (bearerTokenSecret !== undefined) {
          const token = await value(bearerTokenSecret, signal);
          headers['authorization'] = checkValue(`Bearer ${token}`, `${namespace}/${bearerTokenSecret.name}`);
        }
        const ca = caSecret === undefined ? undefined : await value(caSecret, signal);
        const credentials = { headers, ca };
        kept = { credentials, at: clock.now() };
        return { ok: true, credentials };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, problem: { reason: 'Misconfigured', message: sentence(error, namespace) } };
      }
    },
    refused() {
      kept = undefined;
    },
  };
}

class UnusableSecretError extends Error {
  override readonly name = 'UnusableSecretError';
}

/** @throws UnusableSecretError for a name that is no header, or that would steer the connection. */
function checkHeaders(from: ReadonlyMap<string, string>, where: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, text] of from) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name) || RESERVED_HEADERS.has(lower))
      throw new UnusableSecretError(
        `the Secret ${where} has the key ${JSON.stringify(name)}, which cannot be sent as a header`,
      );
    headers[lower] = checkValue(text, where);
  }
  return headers;
}

/** Names no value: it is a secret. */
function checkValue(text: string, where: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new UnusableSecretError(
    `a value in the Secret ${where} has a line break or a character that no header may have`,
  );
}

function sentence(error: unknown, namespace: string): string {
  if (error instanceof UnusableSecretError) return error.message;
  if (isNotFound(error)) return `a Secret that the policy names is not in its namespace ${namespace}: ${error.message}`;
  if (isForbidden(error))
    return `the operator may not read Secrets in the namespace ${namespace}: give it a Role for them (${error.message})`;
  return `a Secret in the namespace ${namespace} cannot be read: ${describeError(error)}`;
}
