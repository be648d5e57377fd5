/**
 * `npm test`: the whole suite on the embedded cluster, then the suite on the real control plane where its binaries are
 * already built (`npm run test:cluster` builds them). STOWAGE_TEST_CLUSTER=off leaves the second part out.
 * Arguments go to the test runner: `npm test -- src/lib`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cachedBinaryFolder } from '../test/controlplane/build.ts';

const root = resolve(import.meta.dirname, '..');

/** Runs one vitest configuration; the JSON report goes where the caller (CI) asked for it. */
function runSuite(name: string, config: string, extra: readonly string[]): number {
  const folder = process.env['STOWAGE_TEST_RESULTS'];
  const report =
    folder === undefined
      ? []
      : ['--reporter=default', '--reporter=json', `--outputFile.json=${join(folder, `${name}.json`)}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const result = spawnSync(process.execPath, [vitest, 'run', '--config', config, ...report, ...extra], {
    cwd: root,
    stdio: 'inherit',
  });
  return result.status ?? 1;
}

const extra = process.argv.slice(2);
let status = runSuite('test', 'vitest.config.ts', extra);
if (extra.length === 0 && process.env['STOWAGE_TEST_CLUSTER'] !== 'off') {
  if (existsSync(join(cachedBinaryFolder(), 'kube-apiserver')))
    status ||= runSuite('cluster', 'vitest.cluster.config.ts', []);
  else
    console.log(
      '\nThe suite on the real control plane was left out: its binaries are not built. Run: npm run test:cluster',
    );
}
process.exitCode = status;
