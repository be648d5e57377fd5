/** The embedded API server alone, behind a socket with TLS: no controllers, as the real one it is compared with. */
import { createApiServer } from '../../../src/cluster/apiserver/api-server.ts';
import { createSystemClock } from '../../../src/lib/clock.ts';
import { createSystemRandom } from '../../../src/lib/random.ts';
import { createTestAuthority } from '../../controlplane/authority.ts';
import { createEndpoint, type Endpoint } from '../endpoint.ts';

export interface EmbeddedApi {
  readonly endpoint: Endpoint;
  stop(): Promise<void>;
}

export async function startEmbeddedApi(): Promise<EmbeddedApi> {
  const clock = createSystemClock();
  const server = createApiServer({ clock, random: createSystemRandom(), rbac: true });
  const authority = await createTestAuthority(clock);
  const serving = await authority.issueServer([]);
  const { url } = await server.listen({
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, clientCa: authority.caPem },
  });
  // The name is in messages and in fields that are owned: both servers know the same.
  const credentials = await authority.issueClient(DIFFERENTIAL_USER, ['system:masters']);
  const endpoint = createEndpoint({ url, caPem: authority.caPem, credentials });
  return {
    endpoint,
    async stop() {
      endpoint.close();
      await server.close();
    },
  };
}

export const DIFFERENTIAL_USER = 'differential';
