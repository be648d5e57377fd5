import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority, issueClientCertificate, issueServerCertificate } from './certificates.ts';

const day = 86_400_000;
const validity = { notBeforeMillis: Date.UTC(2026, 0, 1), notAfterMillis: Date.UTC(2036, 0, 1) };

describe('createAuthority', () => {
  test('signs itself, may sign others, and lasts exactly as asked', async () => {
    const authority = await createAuthority({ commonName: 'stowage test', ...validity });
    const certificate = new X509Certificate(authority.certificatePem);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe('CN=stowage test');
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.validFromDate.getTime()).toBe(validity.notBeforeMillis);
    expect(certificate.validToDate.getTime()).toBe(validity.notAfterMillis);
  });

  test('two authorities of one name do not vouch for each other', async () => {
    const [one, other] = await Promise.all([
      createAuthority({ commonName: 'same', ...validity }),
      createAuthority({ commonName: 'same', ...validity }),
    ]);
    const issued = new X509Certificate(
      (await issueServerCertificate(one, { commonName: 'x', dnsNames: ['x'], ...validity })).certificatePem,
    );
    expect(issued.verify(new X509Certificate(one.certificatePem).publicKey)).toBe(true);
    expect(issued.verify(new X509Certificate(other.certificatePem).publicKey)).toBe(false);
  });
});

describe('issueServerCertificate', () => {
  test('carries every name and address, and is not an authority', async () => {
    const authority = await createAuthority({ commonName: 'ca', ...validity });
    const pair = await issueServerCertificate(authority, {
      commonName: 'webhook',
      dnsNames: ['webhook.ns.svc', 'localhost'],
      ipAddresses: ['127.0.0.1', '::1'],
      ...validity,
    });
    const certificate = new X509Certificate(pair.certificatePem);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkHost('webhook.ns.svc')).toBe('webhook.ns.svc');
    expect(certificate.checkHost('other.ns.svc')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.checkIssued(new X509Certificate(authority.certificatePem))).toBe(true);
  });

  test('without any name there is nothing a client could check', async () => {
    const authority = await createAuthority({ commonName: 'ca', ...validity });
    await expect(issueServerCertificate(authority, { commonName: 'nameless', ...validity })).rejects.toThrow(
      /nameless.*at least one/,
    );
  });

  test('a TLS client that trusts the authority connects, and the server reads user and groups from its certificate', async () => {
    const now = Date.now();
    const current = { notBeforeMillis: now - day, notAfterMillis: now + day };
    const authority = await createAuthority({ commonName: 'ca', ...current });
    const serverPair = await issueServerCertificate(authority, {
      commonName: 's',
      dnsNames: ['localhost'],
      ...current,
    });
    const user = await issueClientCertificate(authority, {
      commonName: 'system:serviceaccount:a,b+c="d"',
      organizations: ['system:masters', 'second'],
      ...current,
    });
    const server = tls.createServer({
      key: serverPair.privateKeyPem,
      cert: serverPair.certificatePem,
      ca: authority.certificatePem,
      requestCert: true,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'secureConnection');
    const client = tls.connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: authority.certificatePem,
      key: user.privateKeyPem,
      cert: user.certificatePem,
    });
    await once(client, 'secureConnect');
    const [socket] = (await accepted) as [tls.TLSSocket];
    expect(client.authorized).toBe(true);
    expect(socket.authorized).toBe(true);
    // Names with every character that has a meaning in a distinguished name arrive unharmed.
    expect(socket.getPeerCertificate().subject).toMatchObject({
      CN: 'system:serviceaccount:a,b+c="d"',
      O: ['system:masters', 'second'],
    });
    client.destroy();
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
