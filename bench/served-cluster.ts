/** A cluster of realistic objects behind the embedded API server's TLS port, for processes that are measured from outside. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../src/api/core.ts';
import { type ResourceType, resources } from '../src/api/resources.ts';
import { createApiServer } from '../src/cluster/apiserver/api-server.ts';
import { createCaches } from '../src/cluster/caches.ts';
import { createKubelet } from '../src/cluster/kubelet/kubelet.ts';
import { createAuthority, issueServerCertificate } from '../src/lib/certificates.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createSystemRandom } from '../src/lib/random.ts';
import {
  benchNamespace,
  deploymentObject,
  namespaceObject,
  nodeObject,
  nodeOfSlot,
  operatorNamespace,
  replicaSetObject,
  runningPodObject,
} from './bench-world.ts';
import { installEngineObjects } from './engine-objects.ts';

const GIB = 1024 ** 3;
/** Pods of a workload. */
const REPLICAS = 10;

/**
 * Serves a cluster of that many pods, ten a workload, all running where they shall run; resolves with a kubeconfig for
 * it. `addEngines` adds what the other two engines work on.
 */
export async function serveCluster(pods: number, nodes: number, folder: string) {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const log = createSilentLogger();
  const stopper = new AbortController();
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'api', ipAddresses: ['127.0.0.1'], ...validity });
  const server = createApiServer({ clock, random });
  const api = server.client();
  const caches = createCaches({ api, clock, random, log });
  const kubelet = createKubelet({ api, caches, clock, random, log });
  const following = caches.run(stopper.signal);
  const create = async <T extends KubeObject & { readonly status?: object }>(
    type: ResourceType<T>,
    object: T,
  ): Promise<T> => {
    const scope = type.namespaced ? { namespace: object.metadata?.namespace ?? benchNamespace } : {};
    const created = await api.create(type, object, scope);
    const { status } = object;
    if (status === undefined) return created;
    // What is created has none: it is written by itself, as by whoever has the say over it.
    const patch = { type: 'merge', body: { status } } as const;
    return await api.patch(type, created.metadata?.name ?? '', patch, { ...scope, subresource: 'status' });
  };
  /** Resolves when nobody has written anything for a second. */
  const settled = async (): Promise<void> => {
    for (let before = -1; before !== server.core.revision(); await delay(1000)) before = server.core.revision();
  };
  await caches.synced();
  await create(resources.namespaces, namespaceObject());
  await create(resources.namespaces, { metadata: { name: operatorNamespace } });
  for (let index = 0; index < nodes; index++) {
    const { name = '', labels = {} } = nodeObject(index).metadata ?? {};
    const reserved = { cpuMillis: 110, memoryBytes: 4 * GIB };
    await kubelet.addNode({ name, labels, cpuMillis: 16_000, memoryBytes: 64 * GIB, reserved });
  }
  for (let workload = 0; workload < pods / REPLICAS; workload++) {
    const deployment = await create(resources.deployments, deploymentObject(workload, REPLICAS));
    const replicaSet = replicaSetObject(workload, REPLICAS);
    const owned = await create(resources.replicaSets, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, ownerReferences: [ownerOf('Deployment', deployment)] },
      spec: {
        ...replicaSet.spec,
        selector: deployment.spec?.selector ?? {},
        template: deployment.spec?.template ?? {},
      },
    });
    for (let slot = 1; slot <= REPLICAS; slot++) {
      const pod = runningPodObject(workload, slot, nodeOfSlot(workload, slot, nodes));
      const { resourceVersion: _, ...metadata } = pod.metadata ?? {};
      await create(resources.pods, {
        ...pod,
        metadata: { ...metadata, ownerReferences: [ownerOf('ReplicaSet', owned)] },
      });
    }
  }
  await settled();
  // Not before all are there: kubelets take over what runs already, as after a start of their own.
  const working = kubelet.run(stopper.signal);
  await settled();
  const listening = await server.listen({ tls: { cert: leaf.certificatePem, key: leaf.privateKeyPem } });
  const kubeconfig = join(folder, `kubeconfig-${pods}`);
  const cluster = {
    server: listening.url,
    'certificate-authority-data': Buffer.from(authority.certificatePem).toString('base64'),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'bench', cluster }],
      users: [{ name: 'bench', user: { token: 'bench' } }],
      contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
      'current-context': 'bench',
    }),
  );
  return {
    kubeconfig,
    async addEngines() {
      await installEngineObjects({ server, clock, settled, signal: stopper.signal });
    },
    async close() {
      stopper.abort(new Error('The benchmark is over.'));
      await Promise.all([following, working]);
      await server.close();
    },
  };
}

function ownerOf(kind: string, owner: KubeObject) {
  return {
    apiVersion: 'apps/v1',
    kind,
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    controller: true,
  };
}
