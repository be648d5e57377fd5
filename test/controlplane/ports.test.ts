import { execFileSync } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePorts } from './ports.ts';

const module = JSON.stringify(join(import.meta.dirname, 'ports.ts'));

/** What another process is given that can choose between this port and the one above it, in this order. */
function givenElsewhere(port: number): number {
  const script = `
    const { findFreePorts } = await import(${module});
    let next = ${port};
    console.log((await findFreePorts(1, () => next++))[0]);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

test.skipIf(process.platform !== 'linux')(
  'a port that was given is given to no other process, though nobody listens on it yet',
  async () => {
    const [port = 0] = await findFreePorts(1);
    expect(givenElsewhere(port)).not.toBe(port);
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  },
);

test('different ones are given, and none on which somebody listens', async () => {
  const ports = await findFreePorts(20);
  expect(new Set(ports).size).toBe(20);
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(givenElsewhere(port)).not.toBe(port);
});
