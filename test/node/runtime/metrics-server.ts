/** metrics-server as a program beside the control plane, registered as the API group metrics.k8s.io. */
import { join } from 'node:path';
import type { KubeObject } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { isNotFound, unless } from '../../../src/api/kube-error.ts';
import type { ResourceType } from '../../../src/api/resources.ts';
import { type Clock, sleep } from '../../../src/lib/clock.ts';
import { START_TIMEOUT_MILLIS } from '../../controlplane/health.ts';
import { type Program, readLogTail, startProgram } from '../../controlplane/process-group.ts';
import { NODE_ADDRESS } from '../host/network-namespace.ts';

const DEFAULT_PORT = 10_443;
const NAMESPACE = 'kube-system';
const NAME = 'metrics-server';
const REGISTRATION = 'v1beta1.metrics.k8s.io';
const POLL_MILLIS = 100;

type RegisteredService = KubeObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

const service: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
const endpointSlice: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
const apiService: ResourceType = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
};

export interface MetricsServerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly kubeconfigPath: string;
  readonly programDirectory: string;
  /** Of the run: the program is ended with it, whatever happens. */
  readonly runDirectory: string;
  /** Default: one of the real nodes' network namespace. */
  readonly port?: number;
  /** The API server reaches it as localhost, not at the address of the real nodes. */
  readonly isLocal?: boolean;
}

/** Figures come after two scrapes of the kubelets, ten seconds apart. Call `stop` on what is returned. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<Program> {
  const { api, clock, kubeconfigPath, programDirectory, runDirectory, port = DEFAULT_PORT, isLocal = false } = options;
  const commandLine = {
    name: NAME,
    command: join(programDirectory, NAME),
    args: [
      `--kubeconfig=${kubeconfigPath}`,
      `--authentication-kubeconfig=${kubeconfigPath}`,
      `--authorization-kubeconfig=${kubeconfigPath}`,
      `--secure-port=${port}`,
      '--bind-address=0.0.0.0',
      `--cert-dir=${join(runDirectory, NAME)}`,
      '--kubelet-preferred-address-types=InternalIP',
      // The nodes share an address, so each kubelet has a port of its own.
      '--kubelet-use-node-status-port',
      '--kubelet-insecure-tls',
      '--metric-resolution=10s',
      // Must be less than the resolution, which is its default.
      '--kubelet-request-timeout=5s',
    ],
  };
  const program = await startProgram(commandLine, runDirectory, clock);
  const inNamespace = { namespace: NAMESPACE };
  const ports = [{ port, targetPort: port }];
  // Endpoints may not be loopback addresses; a name may stand for one.
  const spec = isLocal ? { type: 'ExternalName', externalName: 'localhost', ports } : { ports };
  await api.create<KubeObject>(service, { metadata: { name: NAME }, spec } as KubeObject, inNamespace);
  const slice = {
    metadata: { name: NAME, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [NODE_ADDRESS], conditions: { ready: true } }],
    ports: [{ port, protocol: 'TCP' }],
  };
  if (!isLocal) await api.create<KubeObject>(endpointSlice, slice, inNamespace);
  const registration = {
    metadata: { name: REGISTRATION },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: NAME, namespace: NAMESPACE, port },
    },
  };
  await api.create<KubeObject>(apiService, registration);
  await waitUntilAvailable(api, clock, program, runDirectory);
  return program;
}

async function waitUntilAvailable(api: KubeApi, clock: Clock, program: Program, runDirectory: string): Promise<void> {
  const deadline = clock.now() + START_TIMEOUT_MILLIS;
  for (;;) {
    const { status } = await api.get<RegisteredService>(apiService, REGISTRATION);
    if (status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True')) return;
    if (!program.isRunning() || clock.now() > deadline)
      throw new Error(
        `metrics-server does not get available; the end of its log:\n${readLogTail(runDirectory, NAME, 20)}`,
      );
    await sleep(clock, POLL_MILLIS);
  }
}

/** Takes the registration back and ends the program. */
export async function stopMetricsServer(api: KubeApi, program: Program): Promise<void> {
  await api.delete(apiService, REGISTRATION);
  await unless(isNotFound, api.delete(endpointSlice, NAME, { namespace: NAMESPACE }));
  await api.delete(service, NAME, { namespace: NAMESPACE });
  await program.stop(1000);
}
