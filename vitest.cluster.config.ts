import { defineConfig } from 'vitest/config';

/** Suites that install definitions, webhooks, an aggregated API or a whole chart: others must not find what they leave. */
const engines = [
  'test/cluster/{allocation,install,rightsizing,usage}*.test.ts',
  'test/conformance/allocation.conformance.ts',
];
const all = ['test/cluster/**/*.test.ts', 'test/conformance/**/*.conformance.ts'];

// Suites that run on a real control plane (npm run test:cluster): the conformance suite, and everything in test/cluster.
// `--mode engines` are those of rightsizing, allocation and the chart, `--mode base` all others; each part has a control plane of its own.
// One worker: the files of a part share its few nodes, and most of the machine is busy running that.
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'engines' ? engines : all,
    exclude: ['**/node_modules/**', ...(mode === 'base' ? engines : [])],
    globalSetup: ['test/controlplane/global-setup.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
}));
