import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { configOf } from '../config/testing/load-text.ts';
import { createAuthority } from '../lib/certificates.ts';
import { createSilentLogger } from '../lib/log.ts';
import { skewClock } from '../simulator/skewed-clock.ts';
import type { KeyPair } from '../webhook/server.ts';
import { selfCertificate } from './self-certificate.ts';
import { config, createWorld, unstopped } from './testing/certificate-world.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const inSystem = { namespace: 'spotalis-system' };

/** The certificates of a PEM bundle. */
function certificatesIn(pem: string): X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return texts.map((text) => new X509Certificate(text));
}

async function publishedBundle(api: KubeApi): Promise<X509Certificate[]> {
  const { webhooks = [] } = await api.get(resources.mutatingWebhookConfigurations, 'spotalis-mutating-webhook');
  return certificatesIn(Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString());
}

const isTrusted = (pair: KeyPair, bundle: readonly X509Certificate[]): boolean => {
  const leaf = new X509Certificate(pair.cert);
  return bundle.some((authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey));
};

const foreignAuthority = () =>
  createAuthority({ commonName: 'somebody', notBeforeMillis: Date.UTC(2025, 0), notAfterMillis: Date.UTC(2030, 0) });

describe('selfCertificate', () => {
  test('the first start makes certificate and Secret, and publishes the authority', async () => {
    const { api, register, obtain } = await createWorld();
    await register();
    const source = await obtain(true);
    expect(source.problem()).toBeUndefined();
    expect(isTrusted(source.first, await publishedBundle(api))).toBe(true);
    const leaf = new X509Certificate(source.first.cert);
    expect(leaf.subjectAltName).toContain('DNS:spotalis.spotalis-system.svc');
    const secret = await api.get(resources.secrets, 'spotalis-webhook-cert', inSystem);
    expect(secret.type).toBe('kubernetes.io/tls');
    expect(Object.keys(secret.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  });

  test('the key of the authority is kept nowhere', async () => {
    const { api, obtain } = await createWorld();
    const source = await obtain(true);
    const { data = {} } = await api.get(resources.secrets, 'spotalis-webhook-cert', inSystem);
    const texts = Object.values(data).map((value) => Buffer.from(value, 'base64').toString());
    expect(texts.filter((text) => text.includes('PRIVATE KEY'))).toEqual([source.first.key]);
  });

  test('replicas that start together share one certificate', async () => {
    const { obtain } = await createWorld();
    const sources = await Promise.all([obtain(true), obtain(false), obtain(false)]);
    expect(new Set(sources.map(({ first }) => first.cert)).size).toBe(1);
  });

  test('not ready while no webhook configuration carries the authority; ready once one appears', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    const source = await obtain(true);
    expect(source.problem()).toContain('spotalis-mutating-webhook');
    const stop = new AbortController();
    const following = source.follow(() => {}, stop.signal);
    await register();
    await clock.advance(60_000);
    await settle(() => source.problem() === undefined);
    expect(isTrusted(source.first, await publishedBundle(api))).toBe(true);
    stop.abort();
    await following;
  });

  test('renewed at two thirds of its life: at every moment the served leaf is trusted, old and new', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    await register();
    const leader = await obtain(true);
    const follower = await obtain(false);
    await clock.advance(60 * DAY - 10 * MINUTE);
    const stop = new AbortController();
    const served = { leader: leader.first, follower: follower.first };
    const following = [
      leader.follow((pair) => {
        served.leader = pair;
      }, stop.signal),
      follower.follow((pair) => {
        served.follower = pair;
      }, stop.signal),
    ];
    await clock.advance(5 * MINUTE);
    expect(served.leader.cert).toBe(leader.first.cert);
    let isAlwaysTrusted = true;
    await settle(async () => {
      const bundle = await publishedBundle(api);
      isAlwaysTrusted &&= isTrusted(served.leader, bundle) && isTrusted(served.follower, bundle);
      return served.leader.cert !== leader.first.cert && served.follower.cert === served.leader.cert;
    }, 60_000);
    expect(isAlwaysTrusted).toBe(true);
    // How many steps the threads take is not in our hands.
    expect(clock.now()).toBeLessThan(Date.UTC(2026, 0, 1) + 75 * DAY);
    expect(await publishedBundle(api)).toHaveLength(2);
    stop.abort();
    await Promise.all(following);
  });

  test('valid for API servers whose clocks are a day behind; one made by a clock that was a year ahead is replaced', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    await register();
    const log = createSilentLogger();
    const ahead = skewClock(clock, 365 * DAY);
    const made = await selfCertificate({ api, config, isLeader: () => true, clock: ahead, log, signal: unstopped });
    const leader = await obtain(true);
    expect(leader.first.cert).toBe(made.first.cert);
    const stop = new AbortController();
    let served = leader.first;
    const following = leader.follow((pair) => {
      served = pair;
    }, stop.signal);
    await settle(() => served.cert !== made.first.cert, 1000);
    const { validFromDate } = new X509Certificate(served.cert);
    expect(clock.now() - validFromDate.getTime()).toBeGreaterThanOrEqual(DAY);
    expect(isTrusted(served, await publishedBundle(api))).toBe(true);
    stop.abort();
    await following;
  });

  test('a renewed pair is served when API servers have had time to trust it, and by the leader last', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    await register();
    const leader = await obtain(true);
    const follower = await obtain(false);
    await clock.advance(60 * DAY);
    const stop = new AbortController();
    const order: string[] = [];
    const following = [
      follower.follow(() => order.push(`follower after ${clock.now() - publishedAt}`), stop.signal),
      leader.follow(() => order.push('leader'), stop.signal),
    ];
    const bundleBefore = await publishedBundle(api);
    let publishedAt = 0;
    await settle(async () => {
      // The last look that did not see it.
      if ((await publishedBundle(api)).length === bundleBefore.length) publishedAt = clock.now();
      return order.length === 2;
    }, 100);
    expect(order).toEqual([expect.stringMatching(/^follower after \d+$/), 'leader']);
    expect(Number(order[0]?.split(' ').at(-1))).toBeGreaterThanOrEqual(5_000);
    stop.abort();
    await Promise.all(following);
  });

  test('a replica that starts between the new authority and the pair it signed leaves the authority published', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    await register();
    const leader = await obtain(true);
    await clock.advance(60 * DAY);
    const stop = new AbortController();
    const following = leader.follow(() => {}, stop.signal);
    await settle(async () => (await publishedBundle(api)).length === 2, 100);
    const renewed = await publishedBundle(api);
    const late = await obtain(false);
    expect(late.first.cert).toBe(leader.first.cert);
    expect((await publishedBundle(api)).map(({ raw }) => raw)).toEqual(renewed.map(({ raw }) => raw));
    stop.abort();
    await following;
  });

  test('a replica that starts publishes where what is published does not trust its pair, whoever wrote that', async () => {
    const { api, register, obtain } = await createWorld();
    await register();
    const { first } = await obtain(false);
    const foreign = Buffer.from((await foreignAuthority()).certificatePem).toString('base64');
    const { webhooks = [], ...rest } = await api.get(
      resources.mutatingWebhookConfigurations,
      'spotalis-mutating-webhook',
    );
    const overwritten = webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: foreign },
    }));
    await api.replace(resources.mutatingWebhookConfigurations, { ...rest, webhooks: overwritten });
    await obtain(false);
    expect(isTrusted(first, await publishedBundle(api))).toBe(true);
  });

  test('a Secret that cannot be used is filled anew, and one that was deleted comes back', async () => {
    const { api, register, settle, obtain } = await createWorld();
    await register();
    const broken = { 'tls.crt': 'bm8=', 'tls.key': 'bm8=', 'ca.crt': 'bm8=' };
    const metadata = { name: 'spotalis-webhook-cert', ...inSystem };
    await api.create(
      resources.secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data: broken },
      inSystem,
    );
    const source = await obtain(true);
    expect(isTrusted(source.first, await publishedBundle(api))).toBe(true);

    const stop = new AbortController();
    let served = source.first;
    const following = source.follow((pair) => {
      served = pair;
    }, stop.signal);
    await api.delete(resources.secrets, 'spotalis-webhook-cert', inSystem);
    await settle(() => served.cert !== source.first.cert, 1_000);
    expect(isTrusted(served, await publishedBundle(api))).toBe(true);
    stop.abort();
    await following;
  });

  test('a Service of another name: the next to start makes it anew, for both names, and the leader of before takes it', async () => {
    const { api, clock, register, settle, obtain } = await createWorld();
    await register();
    const before = await obtain(true);
    const renamed = configOf('', {
      SPOTALIS_WEBHOOK_CERTIFICATES: 'self',
      SPOTALIS_WEBHOOK_SERVICE_NAME: 'stowage',
    });
    const log = createSilentLogger();
    const isLeader = (): boolean => false;
    const after = await selfCertificate({ api, config: renamed, isLeader, clock, log, signal: unstopped });
    const leaf = new X509Certificate(after.first.cert);
    for (const name of ['stowage', 'spotalis']) expect(leaf.checkHost(`${name}.spotalis-system.svc`)).toBeDefined();
    const bundle = await publishedBundle(api);
    expect([before, after].map(({ first }) => isTrusted(first, bundle))).toEqual([true, true]);

    const stop = new AbortController();
    let served = before.first;
    const following = before.follow((pair) => {
      served = pair;
    }, stop.signal);
    await settle(() => served.cert !== before.first.cert, 1_000);
    expect(served.cert).toBe(after.first.cert);
    stop.abort();
    await following;
  });

  test.each<[string, () => Promise<string>]>([
    ['of an authority that did not sign the leaf', async () => (await foreignAuthority()).certificatePem],
    ['that cannot be read', async () => '-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n'],
  ])('a bundle %s: made anew at the start, and by the leader while it runs', async (_, makeBundle) => {
    const { api, register, settle, obtain } = await createWorld();
    await register();
    const before = await obtain(true);
    const spoil = async (): Promise<void> => {
      const secret = await api.get(resources.secrets, 'spotalis-webhook-cert', inSystem);
      const data = { ...secret.data, 'ca.crt': Buffer.from(await makeBundle()).toString('base64') };
      await api.replace(resources.secrets, { ...secret, data }, inSystem);
    };
    await spoil();
    const source = await obtain(true);
    expect(source.first.cert).not.toBe(before.first.cert);
    expect(isTrusted(source.first, await publishedBundle(api))).toBe(true);

    const stop = new AbortController();
    let served = source.first;
    const following = source.follow((pair) => {
      served = pair;
    }, stop.signal);
    await spoil();
    await settle(() => served.cert !== source.first.cert, 1_000);
    expect(isTrusted(served, await publishedBundle(api))).toBe(true);
    stop.abort();
    await following;
  });

  test('without the rights the start fails and says which to grant', async () => {
    const { api, obtain } = await createWorld();
    const refusing: KubeApi = { ...api, get: () => Promise.reject(new Error('secrets is forbidden')) };
    await expect(obtain(true, refusing)).rejects.toThrow(
      /spotalis-system\/spotalis-webhook-cert .*forbidden.*rbac-self-certificates\.yaml/,
    );
    // Not taken for another replica that was faster.
    const refused = new KubeError(403, undefined, 'cannot create resource "secrets"');
    const readOnly: KubeApi = { ...api, create: () => Promise.reject(refused) };
    await expect(obtain(true, readOnly)).rejects.toThrow(/cannot create resource "secrets".*rbac-self-certificates/);
  });
});
