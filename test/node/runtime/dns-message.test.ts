import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answer, readQuestion } from './dns-message.ts';

describe('messages that are no single question', () => {
  const question = Buffer.from('0007010000010000000000000161027362000001000' + '1', 'hex');

  test('are not understood', () => {
    expect(readQuestion(question)).toEqual({ name: 'a.sb', isAddress: true });
    for (let length = 0; length < question.length; length++)
      expect(readQuestion(question.subarray(0, length))).toBeUndefined();
    const two = Buffer.from(question);
    two.writeUInt16BE(2, 4);
    expect(readQuestion(two)).toBeUndefined();
    const pointer = Buffer.from(question);
    pointer.writeUInt8(0xc0, 12);
    expect(readQuestion(pointer)).toBeUndefined();
  });
});

describe('a real resolver', () => {
  const socket = createSocket('udp4');
  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  beforeEach(async () => {
    socket.on('message', (message, { port, address }) => {
      const question = readQuestion(message);
      if (question === undefined) return;
      const known = question.name === 'web.shop.svc';
      socket.send(answer(message, known ? (question.isAddress ? '10.0.0.77' : 'none') : undefined), port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  });
  afterEach(() => socket.close());

  test('is told addresses, names without one, and names that do not exist', async () => {
    expect(await resolver.resolve4('web.shop.svc')).toEqual(['10.0.0.77']);
    expect(await resolver.resolve4('WEB.shop.SVC')).toEqual(['10.0.0.77']);
    await expect(resolver.resolve6('web.shop.svc')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolve4('other.shop.svc')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
