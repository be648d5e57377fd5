/** A server in virtual time with a few objects, for the tests beside it. */
import type { Pod } from '../../../api/core.ts';
import type { KubeApi } from '../../../api/kube-api.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../../lib/virtual-clock.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../api-server.ts';

export interface TestServer {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly api: KubeApi;
}

/** 2026-01-01T00:00:00Z. */
export const TEST_START_MILLIS = Date.UTC(2026, 0, 1);

export function createTestServer(options: Omit<ApiServerOptions, 'clock' | 'random'> = {}): TestServer {
  const clock = createVirtualClock(TEST_START_MILLIS);
  const server = createApiServer({ ...options, clock, random: createSeededRandom(1) });
  return { clock, server, api: server.client() };
}

/** A pod of one container in the namespace `default`, labelled `app: NAME`. */
export function testPod(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'image:1' }], ...spec },
  };
}

/** Options for the namespace `default`. */
export const IN_DEFAULT = { namespace: 'default' } as const;
