/**
 * Who may ask the dashboard's server: its own page, and people who open it. A page of somebody else in the same browser may not, even
 * where its name was made to point here (DNS rebinding): then the browser sends that name as `Host`.
 */
import { type Authorize, jsonAnswer } from '../endpoint-server.ts';
import { createHostCheck } from '../host-check.ts';

export interface RequestGuardOptions {
  /** Besides localhost, addresses and Services; without port. */
  readonly allowedHosts: readonly string[];
}

/** Of every answer. Nothing is loaded from elsewhere, nothing is written into a page but text, and no page may frame this one. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

export function createRequestGuard({ allowedHosts }: RequestGuardOptions): Authorize {
  const isOwnHost = createHostCheck(allowedHosts);
  return async ({ headers }) => {
    if (!isOwnHost(headers.host)) {
      return refusal('open the dashboard as localhost or by its address, or list its name in web.allowedHosts');
    }
    const site = headers['sec-fetch-site'];
    const isForeign = site === 'cross-site' || site === 'same-site';
    // Links from elsewhere may be followed.
    const isOpened = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    return isForeign && !isOpened ? refusal('other pages may not read the dashboard') : undefined;
  };
}

const refusal = (message: string) => jsonAnswer(403, { code: 'FORBIDDEN', message });
