import { defineConfig } from 'vitest/config';

/**
 * The parts of the suites on a real control plane (npm run test:cluster), `--mode NAME` each. Parts run side by side, each on a control plane
 * of its own, so that none finds what another leaves: webhooks, definitions, an aggregated API, a whole chart.
 */
const parts: Readonly<Record<string, readonly string[]>> = {
  engines: ['test/cluster/{allocation,usage,usage-prometheus}.test.ts', 'test/conformance/allocation.conformance.ts'],
  install: ['test/cluster/{install,install-rights,install-values}.test.ts'],
  rightsizing: ['test/cluster/rightsizing*.test.ts'],
  replicas: ['test/cluster/ha-*.test.ts'],
  harness: ['test/cluster/{control-plane,kube-client}.test.ts'],
  outages: ['test/cluster/allocation-outage.test.ts'],
};
const all = ['test/cluster/**/*.test.ts', 'test/conformance/**/*.conformance.ts'];

// `--mode base` is what belongs to no part. One worker: the files of a part share its few nodes.
export default defineConfig(({ mode }) => ({
  test: {
    include: [...(parts[mode] ?? all)],
    exclude: ['**/node_modules/**', ...(mode === 'base' ? Object.values(parts).flat() : [])],
    setupFiles: ['test/setup/property-seed.ts'],
    // These start their own, to kill or freeze it.
    globalSetup: mode === 'harness' || mode === 'outages' ? [] : ['test/controlplane/global-setup.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    // Its own second is not much on a busy machine.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    testTimeout: 400_000,
    hookTimeout: 400_000,
    teardownTimeout: 60_000,
  },
}));
