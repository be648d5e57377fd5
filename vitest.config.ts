import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long, some of them waiting: begun first, so that the end of a run keeps both workers busy. */
const longest = [
  'test/process/demo',
  'src/simulator/chaos/chaos',
  'test/conformance/embedded',
  'test/docs/commands',
  'test/browser/dashboard',
  'src/simulator/simulate',
  'src/lab/kernel/kernel-substrate',
  'test/process/cli',
  'test/process/build',
  'src/cli/backtest/backtest',
  'src/cli/backtest/policy-rows',
  'src/operator/rightsizing-properties',
  'src/operator/fallback-pools',
  'src/operator/restarts-for-size',
  'src/operator/fallback',
  'src/operator/rightsizing-changes',
  'test/chart/chart',
  'test/chart/image',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((file) => moduleId.endsWith(`${file}.test.ts`));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// Unit and process tests: everything beside the source and the suites that run on the embedded cluster.
// The suites on the real control plane have their own configuration (vitest.cluster.config.ts).
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['test/cluster/**', 'node_modules/**', 'dist/**'],
    setupFiles: ['test/setup/property-seed.ts'],
    pool: 'forks',
    // No module of ours keeps state, so files may share a process: half of the time went into loading the same modules again.
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Its own second is not much on a busy machine.
    expect: { poll: { timeout: 60_000, interval: 20 } },
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
