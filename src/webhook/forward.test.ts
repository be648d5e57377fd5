import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Authority, createAuthority, issueServerCertificate } from '../lib/certificates.ts';
import { type Clock, createSystemClock, sleep } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createCoordinatedHandler } from './coordinated-handler.ts';
import { createForwarder, type LeaderAddress } from './forward.ts';
import { type BodyHandler, type KeyPair, startWebhookServer } from './server.ts';

const validity = { notBeforeMillis: Date.UTC(2020, 0, 1), notAfterMillis: Date.UTC(2099, 0, 1) };
const log = createSilentLogger();
let authority: Authority;
let keyPair: KeyPair;
let otherPair: KeyPair;

async function issue(): Promise<KeyPair> {
  const options = { commonName: 'stowage', dnsNames: ['spotalis.spotalis-system.svc'], ...validity };
  const { certificatePem, privateKeyPem } = await issueServerCertificate(authority, options);
  return { cert: certificatePem, key: privateKeyPem };
}

beforeAll(async () => {
  authority = await createAuthority({ commonName: 'test-ca', ...validity });
  keyPair = await issue();
  otherPair = await issue();
});

async function startLeader(handle: BodyHandler, pair = keyPair): Promise<LeaderAddress> {
  const clock = createSystemClock();
  const server = await startWebhookServer({ port: 0, host: '127.0.0.1', keyPair: pair, handle, clock, log });
  onTestFinished(() => server.drain({ graceMillis: 0 }));
  return { host: '127.0.0.1', port: server.port };
}

function forwarderTo(address: LeaderAddress | undefined, clock: Clock = createSystemClock()) {
  const forwarder = createForwarder({ leader: () => address, certificate: () => keyPair.cert, clock, log });
  onTestFinished(() => forwarder.close());
  return forwarder;
}

describe('createForwarder', () => {
  test('the leader is told that it is asked by another replica, and its answer comes back as it is', async () => {
    const address = await startLeader((body, isForwarded) => ({
      status: 200,
      body: JSON.stringify({ body, isForwarded }),
    }));
    // Time stands still, so that a slow machine is no silent leader.
    const answer = await forwarderTo(address, createVirtualClock(0)).forward('{"a":1}');
    expect(answer?.status).toBe(200);
    expect(JSON.parse(answer?.body ?? '')).toEqual({ body: '{"a":1}', isForwarded: true });
  });

  test('a refusal is an answer, a fault of the leader is none', async () => {
    const statusOf = async (status: number) => {
      const address = await startLeader(() => ({ status, body: '{}' }));
      return (await forwarderTo(address, createVirtualClock(0)).forward('{'))?.status;
    };
    expect(await statusOf(400)).toBe(400);
    expect(await statusOf(500)).toBeUndefined();
  });

  test('another certificate than the own one is not trusted', async () => {
    const address = await startLeader(() => ({ status: 200, body: '{}' }), otherPair);
    expect(await forwarderTo(address, createVirtualClock(0)).forward('{}')).toBeUndefined();
  });

  test('while certificates are renewed the one before is trusted as well', async () => {
    const address = await startLeader(() => ({ status: 200, body: '{}' }), otherPair);
    const certificate = () => `${keyPair.cert}\n${otherPair.cert}`;
    const forwarder = createForwarder({ leader: () => address, certificate, clock: createVirtualClock(0), log });
    onTestFinished(() => forwarder.close());
    expect(await forwarder.forward('{}')).toEqual({ status: 200, body: '{}' });
  });

  test('without a leader, or one that is gone, there is no answer', async () => {
    expect(await forwarderTo(undefined).forward('{}')).toBeUndefined();
    expect(await forwarderTo({ host: '127.0.0.1', port: 1 }).forward('{}')).toBeUndefined();
  });

  test('a silent leader is given up after half a second', async () => {
    const clock = createVirtualClock(0);
    const reached = Promise.withResolvers<void>();
    const address = await startLeader(() => {
      reached.resolve();
      return new Promise(() => {});
    });
    let isDone = false;
    const answer = forwarderTo(address, clock)
      .forward('{}')
      .finally(() => {
        isDone = true;
      });
    await reached.promise;
    await clock.advance(499);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect(await answer).toBeUndefined();
  });
});

describe('createCoordinatedHandler', () => {
  const decide = (body: string, isConfirmed = true) => ({
    status: 200,
    body: `${body} ${isConfirmed ? 'confirmed' : 'unconfirmed'}`,
  });
  const handlerFor = (isLeader: boolean, forwarded: string | undefined, isSynced = true) =>
    createCoordinatedHandler({
      decide,
      isLeader: () => isLeader,
      isSynced: () => isSynced,
      forward: async () => (forwarded === undefined ? undefined : { status: 200, body: forwarded }),
      onForwarded: () => {},
      clock: createVirtualClock(0),
    });

  test.each([
    ['the leader decides', true, false, 'x', 'r confirmed'],
    ['a follower passes on what the leader says', false, false, 'r from the leader', 'r from the leader'],
    ['a follower without an answer decides and says so', false, false, undefined, 'r unconfirmed'],
    ['a forwarded review is never sent on', false, true, 'loop', 'r unconfirmed'],
  ])('%s', async (_, isLeader, isForwarded, forwarded, body) => {
    expect((await handlerFor(isLeader, forwarded)('r', isForwarded)).body).toBe(body);
  });

  test.each([
    ['that came', { status: 200, body: 'r from the leader' }],
    ['that did not come', undefined],
  ])('the wait for an answer %s is told', async (_, answer) => {
    const clock = createVirtualClock(0);
    const waits: number[] = [];
    const handle = createCoordinatedHandler({
      decide,
      isLeader: () => false,
      isSynced: () => true,
      forward: () => sleep(clock, 400).then(() => answer),
      onForwarded: (millis) => waits.push(millis),
      clock,
    });
    const answered = handle('r', false);
    await clock.advance(400);
    expect((await answered).body).toBe(answer?.body ?? 'r unconfirmed');
    expect(waits).toEqual([400]);
  });

  test.each([
    ['who asks it as the leader that it is', true],
    ['who asks it as the leader that it was, or will be', false],
  ])('whose first lists are not complete has no answer for %s', async (_, isLeader) => {
    const address = await startLeader(handlerFor(isLeader, undefined, false));
    expect(await forwarderTo(address, createVirtualClock(0)).forward('r')).toBeUndefined();
    expect((await handlerFor(isLeader, undefined, false)('r', false)).status).toBe(200);
  });
});
