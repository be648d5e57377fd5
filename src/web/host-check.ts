/**
 * Under which names a server may be asked. Somebody else's name can be made to point here (DNS rebinding), and his page
 * in a browser would read the answers; but the browser sends that name as `Host`.
 */
import { isIP } from 'node:net';

/** Told the header `Host` of a request. */
export type IsOwnHost = (header: string | undefined) => boolean;

/** Names of Services: nobody can have a public one below them. */
const SERVICE = /\.svc(?:\.cluster\.local)?$/;

/** @param allowedHosts besides localhost, addresses and Services; without port. */
export function createHostCheck(allowedHosts: readonly string[]): IsOwnHost {
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()));
  return (header) => {
    const host = hostName(header);
    if (host === undefined) return false;
    // An address cannot be somebody else's name.
    const isLocal = isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost');
    return isLocal || SERVICE.test(host) || allowed.has(host);
  };
}

/** Without port, brackets and final dot, in lower case. */
function hostName(header: string | undefined): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+?)\.?)(?::\d{1,5})?$/i.exec(header ?? '') ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}
