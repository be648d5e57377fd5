/** A cluster of realistic objects behind the embedded API server's TLS port, for processes that are measured from outside. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../src/api/core.ts';
import { type ResourceType, resources } from '../src/api/resources.ts';
import { createApiServer } from '../src/cluster/apiserver/api-server.ts';
import { createAuthority, issueServerCertificate } from '../src/lib/certificates.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSystemRandom } from '../src/lib/random.ts';
import {
  benchNamespace,
  deploymentObject,
  namespaceObject,
  nodeObject,
  replicaSetObject,
  runningPodObject,
} from './bench-world.ts';
import { installEngineObjects } from './engine-objects.ts';

/**
 * Serves a cluster of that many pods, ten a workload; resolves with a kubeconfig for it.
 * `addEngines` adds what the other two engines work on.
 */
export async function serveCluster(pods: number, nodes: number, folder: string) {
  const clock = createSystemClock();
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'api', ipAddresses: ['127.0.0.1'], ...validity });
  const server = createApiServer({ clock, random: createSystemRandom() });
  const api = server.client();
  const create = <T extends KubeObject>(type: ResourceType<T>, object: T) =>
    api.create(type, object, type.namespaced ? { namespace: object.metadata?.namespace ?? benchNamespace } : {});
  await create(resources.namespaces, namespaceObject());
  await create(resources.namespaces, { metadata: { name: 'spotalis-system' } });
  for (let index = 0; index < nodes; index++) await create(resources.nodes, nodeObject(index));
  for (let workload = 0; workload < pods / 10; workload++) {
    const deployment = await create(resources.deployments, deploymentObject(workload, 10));
    const replicaSet = replicaSetObject(workload, 10);
    const owned = await create(resources.replicaSets, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, ownerReferences: [ownerOf('Deployment', deployment)] },
      spec: {
        ...replicaSet.spec,
        selector: deployment.spec?.selector ?? {},
        template: deployment.spec?.template ?? {},
      },
    });
    for (let slot = 1; slot <= 10; slot++) {
      const pod = runningPodObject(workload, slot, (workload * 10 + slot) % nodes);
      const { resourceVersion: _, ...metadata } = pod.metadata ?? {};
      await create(resources.pods, {
        ...pod,
        metadata: { ...metadata, ownerReferences: [ownerOf('ReplicaSet', owned)] },
      });
    }
  }
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
  return { kubeconfig, addEngines: () => installEngineObjects(server, clock), close: () => server.close() };
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
