/** A real Prometheus that scrapes what cAdvisor tells of the real nodes' containers, with a client certificate, as in a cluster. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueClientCertificate } from '../../../src/lib/certificates.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type RunningPrometheus, startPrometheus } from '../../prometheus/prometheus.ts';
import type { RealNodesAccess } from '../global-setup.ts';

const HOUR_MILLIS = 3_600_000;

/** Its data goes with the run. */
export async function startKubeletPrometheus(access: RealNodesAccess, clock: Clock): Promise<RunningPrometheus> {
  const authority = { commonName: 'stowage-test-ca', certificatePem: access.caPem, privateKeyPem: access.caKeyPem };
  const pair = await issueClientCertificate(authority, {
    commonName: 'prometheus',
    organizations: ['system:masters'],
    notBeforeMillis: clock.now() - HOUR_MILLIS,
    notAfterMillis: clock.now() + HOUR_MILLIS,
  });
  const dir = join(access.runDirectory, 'prometheus');
  mkdirSync(dir, { recursive: true });
  const write = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const tls = {
    ca_file: write('ca.crt', access.caPem),
    cert_file: write('client.crt', pair.certificatePem),
    key_file: write('client.key', pair.privateKeyPem),
  };
  const targets = access.nodes.map(({ kubeletUrl }) => new URL(kubeletUrl).host);
  const cadvisor = {
    job_name: 'kubelet-cadvisor',
    scheme: 'https',
    tls_config: tls,
    metrics_path: '/metrics/cadvisor',
    static_configs: [{ targets }],
  };
  return startPrometheus({ dir, clock, scrapeInterval: '2s', scrapeConfigs: [cadvisor] });
}
