/** Root certificates, for servers of which nobody says who vouches for them. */
import tls from 'node:tls';

/**
 * With it the launcher keeps Node from reading all roots as soon as TLS is loaded: 1.5 MB, and as much again with a
 * bundle in NODE_EXTRA_CA_CERTS, which operator and agent as a rule never need. Who wants OpenSSL's own store says so
 * in NODE_OPTIONS.
 */
const LATE_ROOTS = '--use-openssl-ca';

/**
 * @param flags those of the command line that Node was started with.
 * @returns what Node trusts without that flag, for `ca` of `node:tls`; undefined where Node knows by itself.
 */
export function rootCertificates(flags: readonly string[] = process.execArgv): string[] | undefined {
  if (!flags.includes(LATE_ROOTS)) return undefined;
  return [...tls.getCACertificates('bundled'), ...tls.getCACertificates('extra')];
}
