/** Credentials of the operator's own, from wherever its configuration says. */
import { describeError } from '../../lib/errors.ts';
import type { CredentialsReader, SourceCredentials } from './source-credentials.ts';

/** @param read asked before each request; left out, nothing is sent. Files that rotate are its business. */
export function operatorCredentials(read: (() => Promise<SourceCredentials>) | undefined): CredentialsReader {
  return {
    async read(signal) {
      if (read === undefined) return { ok: true, credentials: { headers: {}, ca: undefined } };
      try {
        return { ok: true, credentials: await read() };
      } catch (error) {
        signal.throwIfAborted();
        const message = `the operator's credentials for Prometheus cannot be read: ${describeError(error)}`;
        return { ok: false, problem: { reason: 'Misconfigured', message } };
      }
    },
    refused() {},
  };
}
