/** What a TLS server of ours is made of, in the words of `node:tls`. */
import type { SecureContextOptions } from 'node:tls';

/**
 * @param pair PEM texts of the served leaf (with intermediates) and its key.
 * @returns options with a list of authorities, an empty one: without it Node reads all its root certificates, by which
 * a server that asks for no client's certificate never judges anything.
 */
export function servingContext({ cert, key }: { readonly cert: string; readonly key: string }): SecureContextOptions {
  return { cert, key, ca: [], minVersion: 'TLSv1.2' };
}
