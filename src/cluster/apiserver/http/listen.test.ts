import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, get as httpsGet } from 'node:https';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../../lib/certificates.ts';
import { createSystemClock } from '../../../lib/clock.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import { createApiServer } from '../api-server.ts';

describe('TLS', () => {
  test('HTTP/2 and HTTP/1.1 by ALPN, client certificates, and a certificate swapped while running', async () => {
    const clock = createSystemClock();
    const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 3_600_000 };
    const authority = await createAuthority({ ...validity, commonName: 'first-ca' });
    const next = await createAuthority({ ...validity, commonName: 'next-ca' });
    const [pair, nextPair] = await Promise.all(
      [authority, next].map((issuer) =>
        issueServerCertificate(issuer, { ...validity, commonName: 'apiserver', ipAddresses: ['127.0.0.1'] }),
      ),
    );
    const client = await issueClientCertificate(authority, {
      ...validity,
      commonName: 'carol',
      organizations: ['crew'],
    });
    if (pair === undefined || nextPair === undefined) throw new Error('no certificates');
    const server = createApiServer({ clock, random: createSeededRandom(1), rbac: true });
    onTestFinished(() => server.close());
    const listening = await server.listen({
      tls: { key: pair.privateKeyPem, cert: pair.certificatePem, clientCa: authority.certificatePem },
    });

    const session = connectHttp2(listening.url, {
      ca: authority.certificatePem,
      key: client.privateKeyPem,
      cert: client.certificatePem,
    });
    const stream = session.request({ ':method': 'POST', ':path': '/apis/authentication.k8s.io/v1/selfsubjectreviews' });
    stream.end('{}');
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await once(stream, 'end');
    expect(JSON.parse(text)).toMatchObject({
      status: { userInfo: { username: 'carol', groups: ['crew', 'system:authenticated'] } },
    });
    session.close();

    const overHttp1 = (ca: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const agent = new Agent({ ca });
        const request = httpsGet(`${listening.url}/readyz`, { agent }, (response) => {
          response.resume();
          response.on('end', () => {
            agent.destroy();
            resolve(response.statusCode);
          });
        });
        request.on('error', reject);
      });
    expect(await overHttp1(authority.certificatePem)).toBe(200);
    listening.rotateCertificate({ key: nextPair.privateKeyPem, cert: nextPair.certificatePem });
    await expect(overHttp1(authority.certificatePem)).rejects.toThrow(/certificate/);
    expect(await overHttp1(next.certificatePem)).toBe(200);
  });

  test('a plain server has nothing to rotate', async () => {
    const server = createApiServer({ clock: createSystemClock(), random: createSeededRandom(1) });
    onTestFinished(() => server.close());
    const listening = await server.listen();
    expect(() => listening.rotateCertificate({ key: '', cert: '' })).toThrow(TypeError);
  });
});
