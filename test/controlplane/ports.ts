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

/**
 * Takes a port out of the choice of every process on this machine for as long as this one lives: the program that is to listen on it
 * does so seconds later. By the name of an abstract socket, which ends with its process (Linux; elsewhere two may choose the same).
 */
function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(`\0stowage-port-${port}`, () => {
      server.unref();
      resolve(true);
    });
  });
}

/** @returns undefined where somebody listens on it, or has chosen it. */
async function hold(port: number): Promise<Held | undefined> {
  if (!(await claim(port))) return undefined;
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      resolve({ port, close: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

async function holdAny(choose: () => number): Promise<Held> {
  for (let tries = 0; tries < TRIES; tries++) {
    const held = await hold(choose());
    if (held !== undefined) return held;
  }
  throw new Error(`no free port found between ${PORTS.from} and ${PORTS.to} in ${TRIES} tries`);
}

/** `count` different free ports, which no other process is given either. @param choose one that may be free; by chance. */
export async function findFreePorts(
  count: number,
  choose = (): number => randomInt(PORTS.from, PORTS.to),
): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => holdAny(choose)));
  await Promise.all(held.map(({ close }) => close()));
  return held.map(({ port }) => port);
}
