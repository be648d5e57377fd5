import type { CredentialSource, Credentials } from '../connection.ts';

/** Credentials that never change. */
export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { current: async () => credentials, invalidate() {} };
}
