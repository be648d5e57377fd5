import { expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

test.each([[['operator', '-n', 'shop']], [['--namespace', 'shop', 'operator', '--leader-elect']]])(
  '%j starts nothing: who names a namespace does not mean the whole cluster',
  async (args) => {
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'stowage: the operator does not go by -n; set controllers.watchNamespaces in its configuration for one that acts in some namespaces only, and leave -n out\n',
    );
  },
);
