/**
 * `npm test`: the whole suite on the embedded cluster, then the suites on the real control plane where its binaries are
 * already built (`npm run test:cluster` builds them). STOWAGE_TEST_CLUSTER=off leaves the second part out.
 * Arguments go to the test runner: `npm test -- src/lib`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cachedBinaryFolder } from '../test/controlplane/build.ts';
import { runChild } from './run-child.ts';
import { runVitest } from './run-vitest.ts';

const args = process.argv.slice(2);
let status = await runVitest({ name: 'test', config: 'vitest.config.ts', args });
if (status === 0 && args.length === 0 && process.env['STOWAGE_TEST_CLUSTER'] !== 'off') {
  if (existsSync(join(cachedBinaryFolder(), 'kube-apiserver'))) {
    const command = join(import.meta.dirname, '..', 'test', 'controlplane', 'run.ts');
    status = await runChild(process.execPath, [command], { stdio: 'inherit' });
  } else
    console.log(
      '\nThe suite on the real control plane was left out: its binaries are not built. Run: npm run test:cluster',
    );
}
process.exitCode = status;
