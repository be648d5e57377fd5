/** Prometheus' configuration for the kubelets of simulated nodes. */
import type { Node } from '../../src/api/core.ts';

export interface ScrapeConfigOptions {
  /** Default 5 s: tests have no time. */
  readonly intervalSeconds?: number;
}

/**
 * Two jobs, as usual: `kubelet-cadvisor` and `kubelet-resource`, which share names of metrics; each target carries its
 * node's name as label `node`. Fixed targets, which every build of Prometheus reads. Nodes without a kubelet port are left out.
 */
export function scrapeConfig(nodes: readonly Node[], { intervalSeconds = 5 }: ScrapeConfigOptions = {}): string {
  const targets = nodes.flatMap((node) => {
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
    const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    return port === undefined || address === undefined
      ? []
      : [`      - targets: ['${address}:${port}']\n        labels: { node: '${node.metadata?.name}' }`];
  });
  const job = (name: string): string =>
    [
      `  - job_name: kubelet-${name}`,
      '    scheme: https',
      // Kubelets sign their own certificates.
      '    tls_config: { insecure_skip_verify: true }',
      `    metrics_path: /metrics/${name}`,
      '    static_configs:',
      ...targets,
    ].join('\n');
  const interval = `${intervalSeconds}s`;
  return [
    `global: { scrape_interval: ${interval}, scrape_timeout: ${interval} }`,
    'scrape_configs:',
    job('cadvisor'),
    job('resource'),
    '',
  ].join('\n');
}
