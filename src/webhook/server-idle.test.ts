/** Which connections wait for a next request, and how many may. */
import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { type BodyHandler, startWebhookServer } from './server.ts';
import { issueKeyPairs } from './testing/key-pairs.ts';

const post = (body: string): string =>
  `POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

async function start(maxIdle: number, handle: BodyHandler) {
  const { authority, firstPair } = await issueKeyPairs();
  const [clock, log] = [createSystemClock(), createSilentLogger()];
  const listening = { port: 0, host: '127.0.0.1', keyPair: firstPair };
  const server = await startWebhookServer({ ...listening, handle, maxIdle, clock, log });
  onTestFinished(() => server.drain({ graceMillis: 0 }));
  return {
    open() {
      const socket = connect({ port: server.port, host: '127.0.0.1', ca: authority.certificatePem });
      onTestFinished(() => void socket.destroy());
      return socket;
    },
  };
}

test('of many that are answered at one instant, no more stay than may: none need have closed for the next to go', async () => {
  const [all, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [came, closed] = [0, 0];
  const { open } = await start(3, async () => {
    if (++came === 20) all.resolve();
    await all.promise;
    return { status: 200, body: '{}' };
  });
  const texts = Array.from({ length: 20 }, () => {
    const socket = open().setEncoding('utf8');
    socket.write(post('{}'));
    socket.once('close', () => ++closed === 17 && gone.resolve());
    return once(socket, 'data');
  });
  for (const [text] of await Promise.all(texts)) expect(text).toMatch(/^HTTP\/1.1 200 /);
  await gone.promise;
});

test('a connection whose next request came before the end of the answer to the one before is not idle', async () => {
  const second = { came: Promise.withResolvers<void>(), mayBeAnswered: Promise.withResolvers<void>() };
  const { open } = await start(1, async (body) => {
    if (body === '"second"') {
      second.came.resolve();
      await second.mayBeAnswered.promise;
    } else await second.came.promise;
    return { status: 200, body };
  });
  const asking = open().setEncoding('utf8');
  asking.write(post('"first"') + post('"second"'));
  let text = '';
  for await (const chunk of asking) {
    text += String(chunk);
    if (text.includes('"second"')) break;
    if (!text.includes('"first"')) continue;
    // Takes the one place of those that are idle.
    await once(open().resume(), 'session');
    second.mayBeAnswered.resolve();
  }
  expect(text).toContain('"second"');
});
