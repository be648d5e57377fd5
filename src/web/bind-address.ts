/** Where a server listens, written as `host:port`, `[ipv6]:port` or `:port`. */
import { InvalidValueError } from '../lib/errors.ts';

export interface BindAddress {
  /** Undefined listens on all addresses. */
  readonly host: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
}

/** @param key configuration key, for the message. @throws InvalidValueError naming it. */
export function parseBindAddress(key: string, text: string): BindAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 0 && port <= 65_535))
    throw new InvalidValueError(key, text, 'an address such as :8080, 127.0.0.1:8080 or [::1]:8080');
  const host = bracketed ?? plain ?? '';
  return { host: host === '' ? undefined : host, port };
}
