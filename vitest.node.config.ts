import { defineConfig } from 'vitest/config';

// Suites on real nodes (npm run test:node). `--mode leftovers` are those that start and kill whole runs of their own.
// One worker: the files share one cluster, and what they measure would suffer from each other.
export default defineConfig(({ mode }) => ({
  test: {
    ...(mode === 'leftovers'
      ? { include: ['test/node/leftovers.suite.ts'] }
      : {
          include: ['test/node/**/*.suite.ts', 'test/node/behaviour/*.behaviour.ts'],
          exclude: ['test/node/leftovers.suite.ts'],
          globalSetup: ['test/node/global-setup.ts'],
        }),
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
}));
