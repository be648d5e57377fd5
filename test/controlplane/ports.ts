/** Free TCP ports on the loopback address. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below those a system gives to outgoing connections (Linux: from 32768 on). A program that is started again on its port would find it
 * taken by any connection on this machine that was opened meanwhile.
 */
const PORTS = { from: 10_000, to: 32_768 } as const;
const TRIES = 100;

interface Held {
  readonly port: number;
  close(): Promise<void>;
}

/** @returns undefined where somebody else has it. */
function hold(port: number): Promise<Held | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      resolve({ port, close: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

async function holdAny(): Promise<Held> {
  for (let tries = 0; tries < TRIES; tries++) {
    const held = await hold(randomInt(PORTS.from, PORTS.to));
    if (held !== undefined) return held;
  }
  throw new Error(`no free port found between ${PORTS.from} and ${PORTS.to} in ${TRIES} tries`);
}

/** `count` different free ports. All are held until the last is known, so none comes twice. */
export async function findFreePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, holdAny));
  await Promise.all(held.map(({ close }) => close()));
  return held.map(({ port }) => port);
}
