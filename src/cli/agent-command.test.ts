import { expect, test } from 'vitest';
import { runCommand } from './testing/run-command.ts';

test('an agent of one namespace there is not, so none is started', async () => {
  const { code, stderr } = await runCommand(['agent', '--node-name', 'worker-1', '-n', 'shop']);
  expect(code).toBe(2);
  expect(stderr).toBe('stowage: the agent looks after the pods of its node, of whatever namespace; leave -n out\n');
});
