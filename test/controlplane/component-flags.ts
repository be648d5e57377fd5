/** The command lines of the four programs. Every flag that is not plainly an address or a file says why it is there. */
import { join } from 'node:path';

export interface Ports {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  readonly controllerManager: number;
  readonly scheduler: number;
}

export interface FlagInput {
  readonly directory: string;
  readonly ports: Ports;
  /** Off by default: pods then need no ServiceAccount object, as in Kubernetes' own envtest. */
  readonly serviceAccountAdmission: boolean;
  /** The controller that taints nodes whose lease is not renewed. Off by default, for suites without kubelets. */
  readonly nodeLifecycle: boolean;
  readonly extraApiServerFlags: readonly string[];
}

const SERVICE_RANGE = '10.0.0.0/24';
/** First address of the service range: what in-cluster clients dial. */
export const KUBERNETES_SERVICE_IP = '10.0.0.1';

/**
 * Of the four programs, in Go: its default (100) collects garbage whenever the heap has doubled, which took a tenth of all CPU in bursts
 * of pods. The limit keeps what that costs in memory within bounds.
 */
export const goEnvironment = { GOGC: '400', GOMEMLIMIT: '1GiB' } as const;

export function etcdUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.etcdClient}`;
}

export function etcdFlags({ directory, ports }: FlagInput): string[] {
  const peerUrl = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${etcdUrl(ports)}`,
    `--advertise-client-urls=${etcdUrl(ports)}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync', // A test cluster may lose its data in a power cut; it may not wait for the disk.
    '--backend-batch-interval=1s', // Nor write the same pages ten times a second.
    '--backend-batch-limit=100000',
  ];
}

/** All three Kubernetes programs serve with the one certificate for 127.0.0.1, so that probes can verify them. */
function servingFlags(directory: string, port: number): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${join(directory, 'server.crt')}`,
    `--tls-private-key-file=${join(directory, 'server.key')}`,
  ];
}

export function apiServerFlags({
  directory,
  ports,
  serviceAccountAdmission,
  extraApiServerFlags,
}: FlagInput): string[] {
  const file = (name: string): string => join(directory, name);
  return [
    `--etcd-servers=${etcdUrl(ports)}`,
    ...servingFlags(directory, ports.apiServer),
    `--cert-dir=${directory}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--allow-privileged=true',
    '--delete-collection-workers=8', // Default 1: the pods of a burst would be deleted one after the other.
    // Aggregation (metrics.k8s.io): the API server calls extension servers with the front-proxy certificate.
    `--requestheader-client-ca-file=${file('ca.crt')}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front-proxy.crt')}`,
    `--proxy-client-key-file=${file('front-proxy.key')}`,
    ...(serviceAccountAdmission ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...extraApiServerFlags,
  ];
}

export function controllerManagerFlags({ directory, ports, nodeLifecycle }: FlagInput): string[] {
  const kubeconfig = join(directory, 'kube-controller-manager.kubeconfig');
  const file = (name: string): string => join(directory, name);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    ...servingFlags(directory, ports.controllerManager),
    '--leader-elect=false',
    '--use-service-account-credentials=true', // With false its own user may not create pods.
    `--service-account-private-key-file=${file('sa.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    `--cluster-signing-cert-file=${file('ca.crt')}`,
    `--cluster-signing-key-file=${file('ca.key')}`,
    `--controllers=*${nodeLifecycle ? '' : ',-node-lifecycle-controller'}`,
    // Defaults (20 a second) make a burst of pods wait for the client's own limiter, not for anything under test.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--concurrent-deployment-syncs=10',
    '--concurrent-replicaset-syncs=10',
    '--concurrent-statefulset-syncs=10',
    // Default 15 s. A test has no time for that, nor for the first five minutes of a pod, whose CPU is doubted.
    '--horizontal-pod-autoscaler-sync-period=3s',
    '--horizontal-pod-autoscaler-cpu-initialization-period=20s',
    '--pvclaimbinder-sync-period=1s', // Default 15 s: how long a claim waits for a volume made after it.
  ];
}

export function schedulerFlags({ directory, ports }: FlagInput): string[] {
  const kubeconfig = join(directory, 'kube-scheduler.kubeconfig');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    ...servingFlags(directory, ports.scheduler),
    '--leader-elect=false',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}
