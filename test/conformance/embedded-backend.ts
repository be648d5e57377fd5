/** The embedded cluster behind real sockets and TLS: API server, controllers and scheduler, without nodes of its own. */
import { createCluster } from '../../src/cluster/cluster.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { createTestAuthority } from '../controlplane/authority.ts';
import type { Backend } from './cluster.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';

export async function startEmbeddedBackend(): Promise<Backend> {
  const clock = createSystemClock();
  const cluster = createCluster({
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    apiServer: { rbac: true },
  });
  await cluster.start(new AbortController().signal);
  const authority = await createTestAuthority(clock);
  const { caPem } = authority;
  const serving = await authority.issueServer([]);
  const { url } = await cluster.server.listen({
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, clientCa: caPem },
  });
  const endpoints: Endpoint[] = [];
  const connect = (input: Omit<Parameters<typeof createEndpoint>[0], 'url' | 'caPem'>): Endpoint => {
    const endpoint = createEndpoint({ url, caPem, ...input });
    endpoints.push(endpoint);
    return endpoint;
  };
  return {
    name: 'embedded',
    admin: connect({ credentials: await authority.issueClient('conformance-admin', ['system:masters']) }),
    anonymous: connect({}),
    endpointFor: async (user, groups) => connect({ credentials: await authority.issueClient(user, groups) }),
    compact: async () => cluster.server.core.compact(),
    endsWithRun: true,
    async stop() {
      for (const endpoint of endpoints) endpoint.close();
      await cluster.stop();
    },
  };
}
