import { defineConfig } from 'vitest/config';

// Suites that run on a real control plane (npm run test:cluster): the conformance suite, and everything in test/cluster.
// One worker: the files share one control plane and its few nodes, and most of the machine is busy running that.
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts', 'test/conformance/**/*.conformance.ts'],
    globalSetup: ['test/controlplane/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
});
