/** kube-proxy in nftables mode: makes the addresses of Services work, inside the run's network namespace. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/lib/clock.ts';
import type { ControlPlane } from '../../controlplane/control-plane.ts';
import { waitUntilReady } from '../../controlplane/health.ts';
import { type Program, readLogTail, startProgram } from '../../controlplane/process-group.ts';
import type { NodeRun } from '../host/node-run.ts';
import type { NodePrograms } from '../programs/ensure-programs.ts';

const HEALTH_PORT = 10_256;

export interface KubeProxyOptions {
  readonly run: NodeRun;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  readonly programs: NodePrograms;
  /** Any node of the run, already registered. */
  readonly node: string;
}

/** One serves all nodes of the run: they share the namespace whose firewall rules it writes. */
export async function startKubeProxy({ run, controlPlane, clock, programs, node }: KubeProxyOptions): Promise<Program> {
  const file = join(run.directory, 'kube-proxy.json');
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'nftables',
      hostnameOverride: node,
      clusterCIDR: '10.244.0.0/16',
      clientConnection: { kubeconfig: controlPlane.adminKubeconfigPath },
      // The limits of connection tracking belong to the machine.
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
      healthzBindAddress: `127.0.0.1:${HEALTH_PORT}`,
      metricsBindAddress: '127.0.0.1:10249',
    }),
  );
  const { nft } = programs;
  const env = {
    ...process.env,
    PATH: `${nft.directory}:${process.env['PATH'] ?? ''}`,
    ...(nft.libraries === undefined ? {} : { LD_LIBRARY_PATH: nft.libraries }),
  };
  const command = join(programs.directory, 'kube-proxy');
  const spec = { name: 'kube-proxy', command, args: [`--config=${file}`, '--v=2'], env };
  const program = await startProgram(spec, run.directory, clock);
  try {
    await waitUntilReady(
      'kube-proxy',
      { url: `http://127.0.0.1:${HEALTH_PORT}/livez` },
      { clock, isAlive: program.isRunning },
    );
  } catch (error) {
    await program.stop(0);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\nend of its log:\n${readLogTail(run.directory, 'kube-proxy', 30)}`);
  }
  return program;
}
