/** A whole Kubernetes cluster of real parts inside one run's network namespace: control plane, nodes, kube-proxy and, on demand, metrics-server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { prepareAudit } from '../../controlplane/audit-policy.ts';
import type { TestAuthority } from '../../controlplane/authority.ts';
import type { Binaries } from '../../controlplane/build.ts';
import { type ControlPlane, startControlPlane } from '../../controlplane/control-plane.ts';
import { NODE_ADDRESS } from '../host/network-namespace.ts';
import type { NodeRun } from '../host/node-run.ts';
import type { PackedImage } from '../image/oci-image.ts';
import type { NodePrograms } from '../programs/ensure-programs.ts';
import { connect } from './connect.ts';
import { startKubeProxy } from './kube-proxy.ts';
import { type RealNode, type RealNodeSpec, startRealNode } from './real-node.ts';

export interface RealClusterOptions {
  readonly run: NodeRun;
  readonly clock: Clock;
  readonly binaries: Binaries;
  readonly programs: NodePrograms;
  readonly images: readonly PackedImage[];
  readonly nodes: readonly RealNodeSpec[];
}

export interface RealCluster {
  readonly controlPlane: ControlPlane;
  readonly nodes: readonly RealNode[];
  /** May do everything. */
  readonly api: KubeApi;
  stop(): Promise<void>;
}

const KUBELET_CLIENT = 'kubelet-client';

/** What the API server needs beyond the suites without nodes: to reach kubelets, and to be reached by pods. */
async function prepareApiServer(directory: string, authority: TestAuthority): Promise<string[]> {
  const pair = await authority.issueClient('kube-apiserver-kubelet-client', ['system:masters']);
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  return [
    ...prepareAudit(directory),
    '--bind-address=0.0.0.0',
    `--advertise-address=${NODE_ADDRESS}`,
    '--authorization-mode=Node',
    '--enable-admission-plugins=NodeRestriction',
    // By default it asks a DNS server for the node's name first.
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-client-certificate=${write(`${KUBELET_CLIENT}.crt`, pair.certificatePem)}`,
    `--kubelet-client-key=${write(`${KUBELET_CLIENT}.key`, pair.privateKeyPem)}`,
    `--kubelet-certificate-authority=${join(directory, 'ca.crt')}`,
    // Webhooks and aggregated APIs are dialled at the addresses of their pods.
    '--enable-aggregator-routing=true',
  ];
}

/** @throws Error with the end of the log of what failed; the caller destroys the run then. */
export async function startRealCluster(options: RealClusterOptions): Promise<RealCluster> {
  const { run, clock, binaries, programs } = options;
  const archives = options.images.map(({ name, archive }) => {
    const path = join(run.directory, `${name.replaceAll(/[^a-z0-9]/g, '-')}.tar`);
    writeFileSync(path, archive);
    return path;
  });
  const controlPlane = await startControlPlane({
    binaries,
    clock,
    serviceAccountAdmission: true,
    nodeLifecycle: true,
    prepare: prepareApiServer,
  });
  const stops: (() => Promise<void>)[] = [() => controlPlane.stop()];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const api = await connect(controlPlane.adminKubeconfigPath, clock);
    stops.push(async () => api.close());
    const nodes = await Promise.all(
      options.nodes.map((spec, position) =>
        startRealNode(spec, { run, controlPlane, api, clock, programs, images: archives, index: position + 1 }),
      ),
    );
    stops.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
    // After the nodes: it waits half a minute for the one it is named after.
    const node = options.nodes[0]?.name ?? '';
    const proxy = await startKubeProxy({ run, controlPlane, clock, programs, node });
    stops.push(() => proxy.stop(1000));
    return { controlPlane, nodes, api, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
