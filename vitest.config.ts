import { defineConfig } from 'vitest/config';

// Unit and process tests: everything beside the source and the suites that run on the embedded cluster.
// The suites on the real control plane have their own configuration (vitest.cluster.config.ts).
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['test/cluster/**', 'node_modules/**', 'dist/**'],
    pool: 'forks',
    // No module of ours keeps state, so files may share a process: half of the time went into loading the same modules again.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
