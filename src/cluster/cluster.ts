/** A whole Kubernetes cluster in one process: the embedded API server and stand-ins of everything that acts on it. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './apiserver/api-server.ts';
import type { ServedType } from './apiserver/served-type.ts';
import { type Applied, applyObjects } from './apply.ts';
import { createAutoscaler } from './autoscaler/autoscaler.ts';
import type { Autoscaler, AutoscalerOptions } from './autoscaler/autoscaler-api.ts';
import type { NodePool } from './autoscaler/node-pool.ts';
import { type Caches, createCaches } from './caches.ts';
import { createDaemonSetController } from './controllers/daemon-set-controller.ts';
import { createDeploymentController } from './controllers/deployment/deployment-controller.ts';
import { createDisruptionController } from './controllers/disruption-controller.ts';
import { createGarbageCollector } from './controllers/garbage-collector.ts';
import { createHorizontalAutoscaler } from './controllers/horizontal-autoscaler/horizontal-autoscaler.ts';
import { createNamespaceController } from './controllers/namespace-controller.ts';
import { createNodeLifecycle } from './controllers/node-lifecycle.ts';
import { createPodGarbageCollector } from './controllers/pod-garbage-collector.ts';
import { createReplicaSetController } from './controllers/replica-set-controller.ts';
import { createStatefulSetController } from './controllers/stateful-set/stateful-set-controller.ts';
import { createVolumeBinder } from './controllers/volume-binder.ts';
import { createKubelet } from './kubelet/kubelet.ts';
import type { Kubelet, KubeletOptions } from './kubelet/kubelet-api.ts';
import type { NodeSpec } from './kubelet/node-object.ts';
import { createMetricsServer, type MetricsServerOptions } from './metrics-server/metrics-server.ts';
import { createScheduler } from './scheduler/scheduler.ts';
import type { StandIn, StandInContext } from './stand-in.ts';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Nodes present from the start. */
  readonly nodes?: readonly NodeSpec[];
  /** Pools nodes are made from on demand. */
  readonly pools?: readonly NodePool[];
  readonly autoscaler?: Omit<AutoscalerOptions, 'pools' | 'machines'>;
  readonly kubelet?: KubeletOptions;
  /** Serve metrics.k8s.io from what the nodes use (load/pod-load.ts). Default: it is not served, as without metrics-server. */
  readonly metricsServer?: MetricsServerOptions;
  /** Further settings of the API server, e.g. whether roles are enforced. */
  readonly apiServer?: Omit<ApiServerOptions, 'clock' | 'random'>;
}

/** A cluster and the hands on it: what happens in it comes through its API, its kubelets and its autoscaler only. */
export interface Cluster {
  /** A client that may do everything. */
  readonly api: KubeApi;
  readonly server: ApiServer;
  readonly caches: Caches;
  readonly kubelet: Kubelet;
  readonly autoscaler: Autoscaler;
  /** Creates or updates objects, in the given order. */
  apply(objects: readonly KubeObject[]): Promise<Applied>;
  /** Starts everything; resolves when the nodes are registered and all components work. Ends when `signal` aborts. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops everything and resolves when nothing runs any more. */
  stop(): Promise<void>;
}

/** A cluster at rest. */
export function createCluster(options: ClusterOptions): Cluster {
  const { clock, random, log, nodes = [], pools = [] } = options;
  const server = createApiServer({ ...options.apiServer, clock, random });
  const api = server.client();
  const caches = createCaches({ api, clock, random, log });
  const context: StandInContext = { api, caches, clock, random, log };
  const kubelet = createKubelet(context, { removesNotReadyTaint: false, ...options.kubelet });
  const autoscaler = createAutoscaler(context, { ...options.autoscaler, pools, machines: kubelet });
  const metricsServer = options.metricsServer && createMetricsServer(context, kubelet.usage, options.metricsServer);
  if (metricsServer !== undefined) server.serveUsage(metricsServer.source);
  const stored = (): readonly ServedType[] => server.core.registry.all().filter(isStored);
  const standIns: readonly StandIn[] = [
    createDeploymentController(context),
    createReplicaSetController(context),
    createStatefulSetController(context),
    createDaemonSetController(context),
    createDisruptionController(context),
    createHorizontalAutoscaler(context),
    createGarbageCollector(context, { types: () => stored().filter(({ customResource }) => customResource === true) }),
    createNamespaceController(context, { types: stored }),
    createVolumeBinder(context),
    createNodeLifecycle(context, { liveness: kubelet }),
    createPodGarbageCollector(context),
    createScheduler(context),
    kubelet,
    autoscaler,
    ...(metricsServer === undefined ? [] : [metricsServer]),
  ];
  const stopper = new AbortController();
  let work: Promise<unknown> = Promise.resolve();

  return {
    api,
    server,
    caches,
    kubelet,
    autoscaler,
    apply: (objects) => applyObjects(api, server.core.registry.all(), objects),
    async start(signal) {
      const both = AbortSignal.any([signal, stopper.signal]);
      const following = caches.run(both);
      work = following;
      await caches.synced();
      work = Promise.all([following, ...standIns.map((each) => each.run(both))]);
      for (const node of nodes) await kubelet.addNode(node);
    },
    async stop() {
      stopper.abort();
      await work;
      await server.close();
    },
  };
}

/** Reviews and usage are answered on the spot, and a second view shows objects of another type. */
function isStored({ source, review, view, customResource }: ServedType): boolean {
  return source === undefined && review === undefined && (view === undefined || customResource === true);
}
