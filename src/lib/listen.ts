/** Opens the port of a server. */
import type { AddressInfo, Server } from 'node:net';
import { describeError, StowageError } from './errors.ts';

/** Where a server listens. */
export interface ListenAddress {
  /** Left out, all addresses. */
  readonly host?: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
}

/**
 * @param name of the server, for the message: `metrics`.
 * @returns the port that is listened on.
 * @throws StowageError (BIND) when the address cannot be listened on.
 */
export function listen(server: Server, { host, port }: ListenAddress, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      const where = `${host ?? ''}:${port}`;
      const what = `The ${name} server cannot listen on ${where} (${describeError(error)})`;
      reject(new StowageError('BIND', `${what}. Free the port, or configure another.`, { cause: error }));
    };
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      const address = server.address() as AddressInfo;
      resolve(address.port);
    });
  });
}
