/** An API server that has no room for evictions (API priority and fairness), made on purpose. */
import { createServer, type Socket } from 'node:net';
import { expect } from 'vitest';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import type { RealCluster } from './real-cluster.ts';

const FLOWCONTROL = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false } as const;
const flowSchemas: ResourceType = { ...FLOWCONTROL, plural: 'flowschemas', kind: 'FlowSchema' };
const priorityLevels: ResourceType = {
  ...FLOWCONTROL,
  plural: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
};
/**
 * A level that does not queue: every request gets 429 with Retry-After, as under overload. Without any seat it still carries out
 * one request at a time.
 */
const noSeats = {
  metadata: { name: 'no-seats' },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 0,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Reject' },
    },
  },
};
const evictionsWithoutSeats = {
  metadata: { name: 'evictions-without-seats' },
  spec: {
    priorityLevelConfiguration: { name: noSeats.metadata.name },
    matchingPrecedence: 2,
    rules: [
      {
        subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: 'stowage', namespace: 'spotalis-system' } }],
        resourceRules: [{ verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'], namespaces: ['*'] }],
      },
    ],
  },
};

/** One eviction of the operator's account hangs in another webhook, so that the API server has no room for the next. */
export async function fillSeatsOfEvictions(
  cluster: RealCluster,
  kubeconfigPath: string,
): Promise<{ end(): Promise<void> }> {
  const { api, eventually, connect } = cluster;
  const namespace = await cluster.namespace();
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  const hanging = {
    metadata: { name: 'hanging' },
    webhooks: [
      {
        name: 'hanging.example.test',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: `https://127.0.0.1:${address.port}/` },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        // The longest there is: between one eviction that hangs and the next there is room for somebody else's.
        timeoutSeconds: 30,
      },
    ],
  };
  await api.create(resources.mutatingWebhookConfigurations, hanging);
  await api.create(priorityLevels, noSeats);
  await api.create(flowSchemas, evictionsWithoutSeats);
  const stop = new AbortController();
  const account = await connect(kubeconfigPath);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'nobody' } };
  const evictIn = (place: string): Promise<unknown> =>
    account.createSubresource(resources.pods, 'nobody', 'eviction', eviction, {
      namespace: place,
      signal: stop.signal,
    });
  const hold = async (): Promise<void> => {
    while (!stop.signal.aborted) await evictIn(namespace).catch(() => sleep(createSystemClock(), 10));
  };
  const holding = hold();
  const end = async (): Promise<void> => {
    stop.abort();
    await holding;
    await api.delete(flowSchemas, evictionsWithoutSeats.metadata.name);
    await api.delete(priorityLevels, noSeats.metadata.name);
    await api.delete(resources.mutatingWebhookConfigurations, hanging.metadata.name);
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => silent.close(() => resolve()));
  };
  try {
    // Not found while there is room; refused once all of this is in force.
    await eventually(() => expect(evictIn('default')).rejects.toMatchObject({ httpStatus: 429 }));
  } catch (error) {
    await end();
    throw error;
  }
  return { end };
}
