/** Mutating webhooks of a suite: served here, registered for the pods of one namespace, and gone after each test. */
import { afterEach, expect } from 'vitest';
import { at, type Cluster, type Namespace } from './cluster.ts';
import type { Json } from './endpoint.ts';
import { pod } from './objects.ts';
import { startWebhookServer, type Verdict, type WebhookServer } from './webhook-server.ts';

export const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
/** The annotation by which it is seen that a webhook was called. */
export const MARK = 'test.io/seen';

/** Call inside `describe`. */
export function useWebhooks(cluster: () => Cluster) {
  const servers: WebhookServer[] = [];
  const configurations: string[] = [];
  afterEach(async () => {
    for (const name of configurations.splice(0)) await cluster().delete(`${CONFIGURATIONS}/${name}`);
    for (const server of servers.splice(0)) await server.close();
  });

  const serve = async (answer: (request: Json) => Verdict): Promise<WebhookServer> => {
    const server = await startWebhookServer(answer);
    servers.push(server);
    return server;
  };

  /** Registers the webhook for pods of one namespace, and waits until the API server uses it. */
  const register = async (
    { post, must, eventually, get }: Cluster,
    space: Namespace,
    { url, caPem }: Pick<WebhookServer, 'url' | 'caPem'>,
    settings: Json = {},
    isActive?: () => Promise<void>,
  ): Promise<void> => {
    await must(
      post(CONFIGURATIONS, {
        metadata: { name: space.name },
        webhooks: [
          {
            name: 'pods.conformance.stowage.test',
            clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space.name } },
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 30,
            failurePolicy: 'Fail',
            ...settings,
          },
        ],
      }),
    );
    configurations.push(space.name);
    // API servers learn of configurations by watch: the first request may come too early.
    await eventually(
      isActive ??
        (async () => {
          const { body } = await post(`${space.pods}?dryRun=All`, pod('probe'));
          expect(at(body, 'metadata', 'annotations', MARK)).toBe('yes');
        }),
    );
    expect((await get(`${CONFIGURATIONS}/${space.name}`)).status).toBe(200);
  };

  /** Ends a server before its test does. */
  const close = async (server: WebhookServer): Promise<void> => {
    servers.splice(servers.indexOf(server), 1);
    await server.close();
  };

  return { serve, register, close };
}
