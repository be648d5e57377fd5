import { defineConfig } from 'vitest/config';
import { filesOf } from './test/controlplane/parts.ts';

// The suites on a real control plane (npm run test:cluster), `--mode PART`. One worker a part: its files share its few nodes.
export default defineConfig(({ mode }) => {
  const { include, exclude, startsItsOwn } = filesOf(mode);
  return {
    test: {
      include: [...include],
      exclude: ['**/node_modules/**', ...exclude],
      setupFiles: ['test/setup/property-seed.ts'],
      ...(startsItsOwn ? {} : { globalSetup: ['test/controlplane/global-setup.ts'] }),
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
  };
});
