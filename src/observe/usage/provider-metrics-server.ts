/** `provider: metrics-server` */
import { createMetricsServerSource } from './metrics-server-source.ts';
import type { UsageProvider } from './usage-providers.ts';

export const metricsServerProvider: UsageProvider = {
  // One for the whole cluster: namespaces are listed once, whatever the number of policies.
  key: () => '',
  create(_settings, { api, clock, metricsServerIntervalMillis, podName }) {
    // Turns are spread by a tenth: a list must be old by then.
    const intervalMillis = metricsServerIntervalMillis * 0.8;
    return { ok: true, source: createMetricsServerSource({ api, clock, intervalMillis, podName }) };
  },
};
