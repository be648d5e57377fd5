/** A cluster for benchmarks: realistic objects (about 6 KB a pod on the wire) put straight into the live view's stores. */
import type { Deployment, Namespace, Node, Pod, ReplicaSet } from '../src/api/core.ts';
import { type SlotRule, sideOfSlot } from '../src/decide/placement/slots.ts';
import { createLiveView } from '../src/observe/live-view.ts';
import { createManualStores } from '../src/observe/testing/manual-stores.ts';

export interface BenchWorldOptions {
  /** Pods in the namespace, all on the side their slot asks for. */
  readonly pods: number;
  readonly podsPerWorkload: number;
  readonly nodes: number;
  /** Pods each workload asks for beyond those that run: a scale-up under way. Default 0. */
  readonly missingPods?: number;
}

export const benchNamespace = 'shop';
/** As the configuration has it that says nothing. */
export const operatorNamespace = 'spotalis-system';

/** What the annotations of the workloads say. */
const rule: SlotRule = {
  spotPercentage: 70,
  minOnDemand: { kind: 'count', count: 1 },
  rounding: 'ceil',
  basis: 'total',
};

export function namespaceObject(): Namespace {
  const labels = { 'spotalis.io/enabled': 'true', 'mbcas.io/managed': 'true' };
  return { metadata: { name: benchNamespace, uid: 'ns', labels } };
}

export function nodeObject(index: number): Node {
  const capacityType = index % 2 === 0 ? 'spot' : 'on-demand';
  return {
    metadata: {
      name: `node-${index}`,
      uid: `node-${index}`,
      labels: {
        'karpenter.sh/capacity-type': capacityType,
        'topology.kubernetes.io/zone': `zone-${'abc'[index % 3]}`,
        'node.kubernetes.io/instance-type': 'm7i.4xlarge',
        'kubernetes.io/hostname': `node-${index}`,
      },
    },
    spec: {},
    status: {
      allocatable: { cpu: '15890m', memory: '60Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-31T00:00:00Z' }],
    },
  };
}

export function deploymentObject(index: number, replicas: number): Deployment {
  const labels = { app: `app-${index}` };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `app-${index}`,
      namespace: benchNamespace,
      uid: `deployment-${index}`,
      generation: 1,
      labels: { 'spotalis.io/enabled': 'true' },
      annotations: { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' },
    },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec(index) } },
    status: {
      observedGeneration: 1,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: ['Available', 'Progressing'].map((type) => ({
        type,
        status: 'True',
        reason: type === 'Available' ? 'MinimumReplicasAvailable' : 'NewReplicaSetAvailable',
        lastTransitionTime: '2026-01-31T00:00:10Z',
        lastUpdateTime: '2026-01-31T00:00:10Z',
      })),
    },
  };
}

export function replicaSetObject(index: number, replicas: number): ReplicaSet {
  return {
    metadata: {
      name: `app-${index}-5d59d67564`,
      namespace: benchNamespace,
      uid: `replicaset-${index}`,
      labels: { app: `app-${index}`, 'pod-template-hash': '5d59d67564' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: `app-${index}`,
          uid: `deployment-${index}`,
          controller: true,
        },
      ],
    },
    spec: { replicas, selector: { matchLabels: { app: `app-${index}` } } },
    status: {
      observedGeneration: 1,
      replicas,
      fullyLabeledReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    },
  };
}

/** As teams have them: the container of the workload's own is named after it, and asks for as much as no neighbour. */
function podSpec(workload: number): NonNullable<Pod['spec']> {
  const container = (name: string, cpu: string, memory: string) => ({
    name,
    image: `registry.example.com/shop/${name}:1.27.3`,
    ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
    env: Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}-of-${name}` })),
    resources: { requests: { cpu, memory }, limits: { memory } },
    readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10, failureThreshold: 3 },
    livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10, failureThreshold: 3 },
    volumeMounts: [
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ],
  });
  return {
    containers: [
      container(`app-${workload}`, `${100 + ((workload * 37) % 400)}m`, `${128 + ((workload * 13) % 256)}Mi`),
      container('proxy', '50m', '64Mi'),
    ],
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: 30,
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    volumes: [{ name: 'kube-api-access', emptyDir: {} }],
  };
}

/** A pod as the API server sends it to the webhook: no name yet, no stamps. */
export function newPodObject(workload: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `app-${workload}-5d59d67564-`,
      namespace: benchNamespace,
      labels: { app: `app-${workload}`, 'pod-template-hash': '5d59d67564' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `app-${workload}-5d59d67564`,
          uid: `replicaset-${workload}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: podSpec(workload),
  };
}

/** Number of the node where slot `slot` (from 1) of a workload runs: one of the side it asks for. Even nodes are spot. */
export function nodeOfSlot(workload: number, slot: number, nodes: number): number {
  const isSpot = sideOfSlot(rule, slot) === 'spot';
  const spread = (workload * 7 + slot * 3) % Math.max(1, nodes >> 1);
  return spread * 2 + (isSpot ? 0 : 1);
}

/** A slot of a workload, running on that node, as its kubelet tells it. */
export function runningPodObject(workload: number, slot: number, node: number): Pod {
  const pod = newPodObject(workload);
  const spec = podSpec(workload);
  const side = node % 2 === 0 ? 'spot' : 'on-demand';
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: `app-${workload}-5d59d67564-${slot}`,
      uid: `pod-${workload}-${slot}`,
      resourceVersion: String(workload * 1000 + slot),
      creationTimestamp: '2026-01-31T00:00:00Z',
      annotations: {
        'spotalis.io/slot': String(slot),
        'spotalis.io/capacity': side,
        'spotalis.io/admission-id': `00000000-0000-4000-8000-${String(workload * 1000 + slot).padStart(12, '0')}`,
        'controller.kubernetes.io/pod-deletion-cost': String(-slot),
      },
    },
    spec: { ...spec, nodeName: `node-${node}`, nodeSelector: { 'karpenter.sh/capacity-type': side } },
    status: {
      phase: 'Running',
      qosClass: 'Burstable',
      podIP: '10.0.0.1',
      startTime: '2026-01-31T00:00:01Z',
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2026-01-31T00:00:10Z',
      })),
      containerStatuses: spec.containers.map(({ name, image = '', resources = {} }) => ({
        name,
        ready: true,
        started: true,
        restartCount: 0,
        image,
        imageID: `sha256:${'0'.repeat(64)}`,
        containerID: `containerd://${'1'.repeat(64)}`,
        state: { running: { startedAt: '2026-01-31T00:00:05Z' } },
        resources,
        allocatedResources: resources.requests ?? {},
      })),
    },
  };
}

/** Builds the stores and the view. Workload `i` has pods in slots 1..podsPerWorkload, all ready. */
export function createBenchWorld(options: BenchWorldOptions) {
  const { pods, podsPerWorkload, nodes, missingPods = 0 } = options;
  const replicas = podsPerWorkload + missingPods;
  const stores = createManualStores();
  const view = createLiveView(stores);
  stores.namespaces.put(namespaceObject());
  for (let index = 0; index < nodes; index++) stores.nodes.put(nodeObject(index));
  const workloads = Math.ceil(pods / podsPerWorkload);
  for (let workload = 0; workload < workloads; workload++) {
    stores.deployments.put(deploymentObject(workload, replicas));
    stores.replicaSets.put(replicaSetObject(workload, replicas));
    for (let slot = 1; slot <= podsPerWorkload; slot++)
      stores.pods.put(runningPodObject(workload, slot, nodeOfSlot(workload, slot, nodes)));
  }
  return { stores, view, workloads };
}
