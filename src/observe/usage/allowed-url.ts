/**
 * Which addresses a policy may have the operator talk to: policies are written by tenants, the operator sits inside the
 * network.
 */
import { parseHttpUrl } from '../../lib/http-url.ts';

/**
 * An entry of the allow-list: scheme, host, port and path. `*.` at the head of the host stands for one or more labels.
 * Empty allows none: policies then have only the operator's own source.
 */
export type AllowedUrls = readonly string[];

/** The message is for the policy's status: it says what was asked for, and what is allowed. */
export type UrlVerdict = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly message: string };

/**
 * Checks an address given by a policy, before anything is sent. It must be http or https, without user or fragment, and
 * match an entry: the same scheme, port and parameters, the same host, and a path at or below the entry's, written
 * without escapes. Redirects are not followed either, or the list would be worth nothing.
 */
export function checkPolicyUrl(text: string, allowed: AllowedUrls): UrlVerdict {
  const url = parseHttpUrl(text);
  if (url === undefined) {
    return {
      ok: false,
      message: `the address ${JSON.stringify(text.slice(0, 200))} is not an http or https URL without user and fragment`,
    };
  }
  if (allowed.some((entry) => matches(url, entry))) return { ok: true, url };
  const list = allowed.length === 0 ? 'it allows none' : `it allows ${allowed.join(', ')}`;
  const message = `the address ${url.origin}${url.pathname} is not one that the operator's configuration lets policies use (rightsizing.prometheus.allowedUrls: ${list})`;
  return { ok: false, message };
}

/**
 * Compared as parsed, so that no spelling of an address slips through: case, default ports, dots and escapes are equal
 * by then.
 */
function matches(url: URL, entry: string): boolean {
  // A star is no character of a host: it is put in after parsing.
  const isWild = /^https?:\/\/\*\./.test(entry);
  const pattern = parseHttpUrl(isWild ? entry.replace('*.', '') : entry);
  if (pattern === undefined || pattern.protocol !== url.protocol || pattern.port !== url.port) return false;
  const isHost = isWild ? url.hostname.endsWith(`.${pattern.hostname}`) : url.hostname === pattern.hostname;
  const folder = pattern.pathname.endsWith('/') ? pattern.pathname : `${pattern.pathname}/`;
  const isBelow = `${url.pathname}/`.startsWith(folder);
  return isHost && isBelow && url.search === pattern.search && !OTHERWISE_READ.test(url.pathname.slice(folder.length));
}

/**
 * `a/%2e%2e%2fb`, `a/..;/b`: one folder here, and another one where a proxy or server decodes or strips first. The path
 * may be what parts one tenant from the next.
 */
const OTHERWISE_READ = /[%;]/;
