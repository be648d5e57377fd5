/** Free TCP ports on the loopback address. */
import { createServer } from 'node:net';

function listen(): Promise<{ port: number; close: () => Promise<void> }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') {
        reject(new Error('the system gave no port'));
        return;
      }
      resolve({ port: address.port, close: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

/** `count` different free ports. All are held until the last is known, so none comes twice. */
export async function findFreePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, listen));
  await Promise.all(held.map(({ close }) => close()));
  return held.map(({ port }) => port);
}
