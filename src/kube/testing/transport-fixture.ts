/** Servers, relays and transports of one test, closed after it. */
import { afterEach } from 'vitest';
import { type Clock, createSystemClock } from '../../lib/clock.ts';
import { readBody } from '../read-answer.ts';
import { createTransport } from '../transport/create-transport.ts';
import type { TlsMaterial, Transport, TransportRequest } from '../transport/transport.ts';
import { type FreezableProxy, startFreezableProxy } from './freezable-proxy.ts';
import { type ScriptedServer, type ScriptedServerOptions, startScriptedServer } from './scripted-server.ts';

interface ConnectOptions {
  readonly clock?: Clock;
  /** Of a relay in front of the server. */
  readonly port?: number;
  readonly proxy?: URL;
  readonly material?: () => Promise<TlsMaterial>;
  readonly onUntrusted?: () => void;
}

export interface TransportFixture {
  serve(options?: ScriptedServerOptions): Promise<ScriptedServer>;
  /** A relay in front of the server that can freeze. */
  relay(server: ScriptedServer): Promise<FreezableProxy>;
  connect(server: ScriptedServer, options?: ConnectOptions): Transport;
  get(path?: string, more?: Partial<TransportRequest>): TransportRequest;
  /** The whole answer. */
  text(transport: Transport, request: TransportRequest): Promise<string>;
}

/** Call once in a test file. */
export function useTransports(): TransportFixture {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  return {
    async serve(options = {}) {
      const server = await startScriptedServer(options);
      cleanUps.push(() => server.close());
      return server;
    },
    async relay(server) {
      const proxy = await startFreezableProxy(server.port);
      cleanUps.push(() => proxy.close());
      return proxy;
    },
    connect(server, { clock = createSystemClock(), port, proxy, material, onUntrusted = () => {} } = {}) {
      const url = new URL(server.url);
      if (port !== undefined) url.port = String(port);
      const transport = createTransport({
        server: url,
        clock,
        material: material ?? (async () => ({ ca: server.ca })),
        onUntrusted,
        ...(proxy && { proxy }),
      });
      cleanUps.push(() => transport.close());
      return transport;
    },
    get: (path = '/', more = {}) => ({
      method: 'GET',
      path,
      headers: {},
      lane: 'bulk',
      signal: new AbortController().signal,
      ...more,
    }),
    async text(transport, request) {
      const response = await transport.request(request);
      return (await readBody(response, request.signal)).toString();
    },
  };
}
