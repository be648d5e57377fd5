import { defineConfig } from 'vitest/config';
import { partOf } from './test/node/parts.ts';

// Suites on real nodes (npm run test:node), `--mode PART`. One worker a part: the files of a part share its nodes.
export default defineConfig(({ mode }) => {
  const { include, nodes } = partOf(mode);
  return {
    test: {
      include: [...include],
      ...(nodes.length === 0 ? {} : { globalSetup: ['test/node/global-setup.ts'] }),
      pool: 'forks',
      isolate: false,
      maxWorkers: 1,
      fileParallelism: false,
      // Of the behaviour suite, whose pods have to fit on one node.
      maxConcurrency: 6,
      // Its own second is not much on a busy machine.
      expect: { poll: { timeout: 60_000, interval: 20 } },
      testTimeout: 400_000,
      hookTimeout: 400_000,
      teardownTimeout: 60_000,
    },
  };
});
