/** The table of providers with everything it needs, for tests. */
import { createMemoryApi } from '../../../kube/testing/memory-api.ts';
import { createSystemClock } from '../../../lib/clock.ts';
import { createUsageSources, type UsageSourcesOptions } from '../usage-providers.ts';
import type { UsageRequest } from '../usage-source.ts';
import { REAL_PATIENCE_MILLIS, tuning } from './http-source.ts';

export const { signal } = new AbortController();

export const request: UsageRequest = {
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  pods: ['web-a'],
  containers: ['app'],
  from: { cpu: 0, memory: 0 },
  to: 600_000,
};

export function sources(
  changes: Partial<UsageSourcesOptions> = {},
  prometheus: Partial<UsageSourcesOptions['prometheus']> = {},
) {
  return createUsageSources({
    api: createMemoryApi().api,
    clock: createSystemClock(),
    prometheus: { ...tuning, timeoutMillis: REAL_PATIENCE_MILLIS, url: undefined, allowedUrls: [], ...prometheus },
    metricsServerIntervalMillis: 30_000,
    custom: {},
    fallbackProvider: undefined,
    maxRequests: 4,
    maxBytes: 1 << 20,
    ...changes,
  });
}
