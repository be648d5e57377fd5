import type http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type Authority, issueClientCertificate } from '../../lib/certificates.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { readBody } from '../read-answer.ts';
import { startFreezableProxy } from '../testing/freezable-proxy.ts';
import { testAuthority } from '../testing/scripted-server.ts';
import { useTransports } from '../testing/transport-fixture.ts';
import type { TlsMaterial } from './transport.ts';

const { connect, get, serve, text } = useTransports();

describe('trust', () => {
  test('CA rotation: a refused certificate has the CA read again, and the next request succeeds', async () => {
    const [old, next] = await Promise.all([testAuthority('old'), testAuthority('next')]);
    const server = await serve({ authority: old });
    let ca = old.certificatePem;
    let untrusted = 0;
    const transport = connect(server, { material: async () => ({ ca }), onUntrusted: () => untrusted++ });
    await text(transport, get());
    await server.useCertificate(next);
    for (const session of server.sessions) session.destroy();
    await eventually(() =>
      expect(text(transport, get())).rejects.toMatchObject({ message: expect.stringContaining('Cannot connect') }),
    );
    expect(untrusted).toBeGreaterThan(0);
    ca = next.certificatePem;
    expect(await text(transport, get())).toBe('{}');
  });

  test('new material is used for new requests at once, while open streams finish on the old connection', async () => {
    const server = await serve();
    let material: TlsMaterial = { ca: server.ca };
    const transport = connect(server, { material: async () => material });
    let finish: (() => void) | undefined;
    server.handler = (_, response) => {
      response.write('slow ');
      finish = () => response.end('end');
    };
    const slow = get();
    const response = await transport.request(slow);
    material = { ca: `${server.ca}\n` };
    server.handler = (_, response) => response.end('new');
    expect(await text(transport, get())).toBe('new');
    expect(server.sessions).toHaveLength(2);
    finish?.();
    expect((await readBody(response, slow.signal)).toString()).toBe('slow end');
    await eventually(() => expect(server.sessions[0]?.closed).toBe(true));
  });

  test.each(['h2', 'http/1.1'] as const)(
    '%s: closing ends what is open over earlier material, too',
    async (protocol) => {
      const server = await serve({ protocol });
      let material: TlsMaterial = { ca: server.ca };
      const transport = connect(server, { material: async () => material });
      server.handler = (_, response) => response.write('begun');
      const slow = get();
      const ended = readBody(await transport.request(slow), slow.signal).catch((error: unknown) => error);
      for (let rotation = 1; rotation <= 3; rotation++) {
        material = { ca: server.ca + '\n'.repeat(rotation) };
        server.handler = (_, response) => response.end('new');
        expect(await text(transport, get())).toBe('new');
      }
      transport.close();
      expect(await ended).toBeInstanceOf(Error);
      await eventually(() => expect(server.sockets.filter((socket) => !socket.destroyed)).toEqual([]));
    },
  );

  test('a reconnection resumes the TLS session, which saves the server a signature', async () => {
    const server = await serve();
    const transport = connect(server);
    const isReused = (): boolean => {
      const socket = server.sessions.at(-1)?.socket as TLSSocket | undefined;
      return socket?.isSessionReused() ?? false;
    };
    await text(transport, get());
    expect(isReused()).toBe(false);
    // The server hands out what is needed for it after the handshake, so not every first reconnection has it.
    await eventually(async () => {
      for (const session of server.sessions) session.destroy();
      await text(transport, get());
      expect(isReused()).toBe(true);
    });
  });

  test('an unknown authority, a wrong name, and the ways to allow them', async () => {
    const server = await serve();
    const ca = server.ca;
    const strange = (await testAuthority()).certificatePem;
    const ask = (material: TlsMaterial) => text(connect(server, { material: async () => material }), get());
    await expect(ask({ ca: strange })).rejects.toThrow(/Cannot connect to the API server/);
    await expect(ask({ ca, serverName: 'other.internal' })).rejects.toThrow(/Cannot connect/);
    expect(await ask({ ca, serverName: 'api.internal' })).toBe('{}');
    expect(await ask({ ca: strange, isInsecure: true })).toBe('{}');
  });

  test('the client certificate is shown to the server', async () => {
    const authority: Authority = await testAuthority('clients');
    const server = await serve({ clientCa: authority.certificatePem });
    const now = Date.now();
    const pair = await issueClientCertificate(authority, {
      commonName: 'jane',
      notBeforeMillis: now - 1e6,
      notAfterMillis: now + 1e6,
    });
    server.handler = (request, response) => {
      const session = (request as http2.Http2ServerRequest).stream.session;
      const socket = session?.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.end(String(socket.getPeerCertificate().subject?.CN));
    };
    const material = { ca: server.ca, certificate: pair.certificatePem, privateKey: pair.privateKeyPem };
    expect(await text(connect(server, { material: async () => material }), get())).toBe('jane');
  });

  test('nothing listens: the message names the address, and the request was certainly not sent', async () => {
    const server = await serve();
    const proxy = await startFreezableProxy(server.port);
    await proxy.close();
    const transport = connect(server, { port: proxy.port });
    await expect(transport.request(get())).rejects.toMatchObject({
      isUnprocessed: true,
      message: expect.stringContaining(`127.0.0.1:${proxy.port}`),
    });
  });
});
