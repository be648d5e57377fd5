/**
 * `npm run properties -- [--rounds N] [--seed S] [--files PART]`: the property tests with seeds of their own, S (by
 * default the time) and on, to look for cases `npm test` does not draw. A round that fails is told with its seed:
 * `--rounds 1 --seed S` plays it again.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from './options.ts';
import { runVitest } from './run-vitest.ts';

const root = join(import.meta.dirname, '..');
const values = readOptions('npm run properties -- [--rounds N] [--seed S] [--files PART]', {
  rounds: { type: 'string', default: '10' },
  seed: { type: 'string', default: String(Date.now() % 0x7fff_ffff) },
  files: { type: 'string', default: '' },
});
const [rounds, first] = [Number(values.rounds), Number(values.seed)];
if (!Number.isInteger(rounds) || !Number.isInteger(first) || rounds < 1 || first < 0) {
  console.error('Give whole numbers: npm run properties -- --rounds 10 --seed 1');
  process.exit(2);
}
const files = globSync('{src,test,bench}/**/*.test.ts', { cwd: root }).filter(
  (file) => file.includes(values.files) && readFileSync(join(root, file), 'utf8').includes('fc.assert('),
);
if (files.length === 0) {
  // Without a file the runner would take all tests.
  console.error(`No test file with property tests has ${JSON.stringify(values.files)} in its path.`);
  process.exit(2);
}
const failed: number[] = [];
for (let seed = first; seed < first + rounds; seed++) {
  const status = await runVitest({
    name: `properties-${seed}`,
    config: 'vitest.config.ts',
    args: ['--reporter=dot', '--silent=true', ...files],
    env: { STOWAGE_TEST_SEED: String(seed) },
  });
  if (status !== 0) failed.push(seed);
}
const held = failed.length === 0 ? 'every property held' : `properties broke with seeds ${failed.join(', ')}`;
console.log(`${files.length} files, ${rounds} rounds from seed ${first}: ${held}`);
process.exitCode = failed.length === 0 ? 0 : 1;
