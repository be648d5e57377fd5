import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { startWebhookServer } from './server.ts';
import { issueKeyPairs } from './testing/key-pairs.ts';

const post = (body: string): string =>
  `POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

test('a connection whose next request came before the end of the answer to the one before is not idle', async () => {
  const { authority, firstPair } = await issueKeyPairs();
  const second = { came: Promise.withResolvers<void>(), mayBeAnswered: Promise.withResolvers<void>() };
  const server = await startWebhookServer({
    port: 0,
    host: '127.0.0.1',
    keyPair: firstPair,
    async handle(body) {
      if (body === '"second"') {
        second.came.resolve();
        await second.mayBeAnswered.promise;
      } else await second.came.promise;
      return { status: 200, body };
    },
    maxIdle: 1,
    clock: createSystemClock(),
    log: createSilentLogger(),
  });
  onTestFinished(() => server.drain({ graceMillis: 0 }));
  const open = () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', ca: authority.certificatePem });
    onTestFinished(() => void socket.destroy());
    return socket;
  };
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
