/** Runs one set of assertions on the cluster of the current configuration: the embedded one in `npm test`, a real one in `npm run test:cluster`. */
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest';
import { type Cluster, createCluster } from './cluster.ts';
import { startEmbeddedBackend } from './embedded-backend.ts';
import { connectRealBackend } from './real-backend.ts';

/**
 * Like `describe`; `suite` gets the cluster, usable inside tests and hooks.
 * @param title names the part of the API.
 */
export function describeOnBackends(title: string, suite: (cluster: () => Cluster) => void): void {
  const access = inject('cluster');
  const name = access === undefined ? 'embedded' : 'real';
  describe(`${title} (${name})`, () => {
    let current: Cluster | undefined;
    const cluster = (): Cluster => {
      if (current === undefined) throw new Error('the cluster is there only while tests run');
      return current;
    };
    beforeAll(async () => {
      current = createCluster(access === undefined ? await startEmbeddedBackend() : connectRealBackend(access));
    });
    afterEach(() => current?.cleanUp());
    afterAll(() => current?.backend.stop());
    suite(cluster);
  });
}
