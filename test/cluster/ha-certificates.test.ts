/** The webhook's certificate changes under load, on three replicas: not one admission fails. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import {
  type Authority,
  type CertificatePair,
  createAuthority,
  issueServerCertificate,
} from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { OperatorProcess } from './operator-process.ts';
import { isUnconfirmed, isUnstamped, startReplicas, webhookCalls } from './operator-replicas.ts';
import { type OperatorWorld, useOperatorWorld, WEBHOOK_NAME } from './operator-world.ts';
import { watchPods } from './pod-watch.ts';
import { type RealCluster, useRealCluster } from './real-cluster.ts';
import { CERTIFICATE_SECRET, NAMESPACE, WEBHOOK_CONFIGURATION } from './release.ts';
import { deploy, managedNamespace, podsOf, policy, scale, untilSides } from './workloads.ts';

const DAY_MILLIS = 86_400_000;

const clock = createSystemClock();
const cluster = useRealCluster();

/** Pods come and go until `work` is done. @returns how many pods came, each with its stamps. */
async function underLoad({ audit }: OperatorWorld, work: () => Promise<void>): Promise<number> {
  const { api, eventually } = cluster();
  const namespace = await managedNamespace(cluster());
  const unconfirmed = new Set<string>();
  const watch = await watchPods(api, namespace, (pod) => {
    if (isUnconfirmed(pod)) unconfirmed.add(pod.metadata?.name ?? '');
  });
  await deploy(cluster(), namespace, 6, policy(50, 1));
  await untilSides(cluster(), namespace, 3, 3);
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  const seen = new Set<string>();
  for (let round = 0; !isDone || round < 3; round++) {
    for (const pod of await podsOf(cluster(), namespace)) seen.add(pod.metadata?.uid ?? '');
    await scale(cluster(), 'deployments', namespace, 'web', round % 2 === 0 ? 12 : 6);
    await eventually(async () => {
      const pods = await podsOf(cluster(), namespace);
      expect(pods.filter(isUnstamped)).toEqual([]);
      for (const pod of pods) seen.add(pod.metadata?.uid ?? '');
      const { status } = await api.get(resources.deployments, 'web', { namespace });
      expect(status?.replicas).toBe(round % 2 === 0 ? 12 : 6);
    });
  }
  await working;
  await watch.stop();
  // Only what a replica decided that could not ask the leader in time may be wrong: nothing, unless the machine is crowded.
  expect(audit.evictions(namespace).length).toBeLessThanOrEqual(unconfirmed.size);
  return seen.size;
}

/** SHA-256 of the certificate that is served on a port. */
function fingerprintOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      resolve(fingerprint256);
    });
    socket.once('error', reject);
  });
}

const fingerprintsOf = (replicas: readonly OperatorProcess[]): Promise<string[]> =>
  Promise.all(replicas.map(({ webhookPort }) => fingerprintOf(webhookPort)));

/** Changes whom the API server trusts, and waits until it does. */
async function trust({ api, eventually }: RealCluster, change: (bundle: string) => string): Promise<void> {
  const configuration = await api.get(resources.mutatingWebhookConfigurations, WEBHOOK_CONFIGURATION);
  const own = (configuration.webhooks ?? []).filter(({ name }) => name !== PROBE);
  const trusting = own.map((webhook) => {
    const { clientConfig } = webhook;
    const bundle = change(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8'));
    return { ...webhook, clientConfig: { ...clientConfig, caBundle: Buffer.from(bundle).toString('base64') } };
  });
  const label = String(clock.now());
  const webhooks = [...trusting, probeOf(label)];
  await api.replace(resources.mutatingWebhookConfigurations, { ...configuration, webhooks });
  const probe = { metadata: { name: 'probe', labels: { probe: label } } };
  const options = { namespace: NAMESPACE, dryRun: true };
  await eventually(() => expect(api.create(resources.configMaps, probe, options)).rejects.toThrow(PROBE));
}

const PROBE = 'probe.stowage.io';

/** Nobody serves it: once the API server refuses an object with this label, it has the configuration that it is part of. */
function probeOf(label: string) {
  return {
    name: PROBE,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    timeoutSeconds: 1,
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { probe: label } },
  };
}

const makeAuthority = (): Promise<Authority> =>
  createAuthority({
    commonName: 'next-webhook-ca',
    notBeforeMillis: clock.now() - 90 * DAY_MILLIS,
    notAfterMillis: clock.now() + 90 * DAY_MILLIS,
  });

describe('webhook.certDir', () => {
  const world = useOperatorWorld(cluster, { certificates: 'files' });

  test('files of a new authority in place of the old, while pods come and go: every admission is answered', async () => {
    const { eventually } = cluster();
    const replicas = await startReplicas(cluster(), world(), 3);
    const before = await fingerprintsOf(replicas);
    expect(new Set(before).size).toBe(1);
    const callsBefore = await webhookCalls();
    const pods = await underLoad(world(), async () => {
      const authority = await makeAuthority();
      const leaf = await issueServerCertificate(authority, {
        commonName: 'webhook',
        dnsNames: [WEBHOOK_NAME],
        notBeforeMillis: clock.now() - 60_000,
        notAfterMillis: clock.now() + DAY_MILLIS,
      });
      // As docs/production.md asks of who changes an authority by hand: both are trusted for a while.
      await trust(cluster(), (bundle) => `${authority.certificatePem}${bundle}`);
      writeFileSync(join(world().certDir, 'tls.crt'), leaf.certificatePem);
      writeFileSync(join(world().certDir, 'tls.key'), leaf.privateKeyPem);
      await eventually(async () => {
        const now = await fingerprintsOf(replicas);
        expect(new Set(now).size).toBe(1);
        expect(now).not.toEqual(before);
      });
      await trust(cluster(), () => authority.certificatePem);
    });
    await expectAllAnswered(callsBefore, pods);
  });
});

describe('webhook.certificates: self', () => {
  const world = useOperatorWorld(cluster);

  test('past two thirds of its life it is renewed, while pods come and go: every admission is answered', async () => {
    const { api, eventually } = cluster();
    await api.create(resources.secrets, secretOf(await agedCertificate()), { namespace: NAMESPACE });
    const replicas = await startReplicas(cluster(), world(), 3);
    const before = await fingerprintsOf(replicas);
    expect(new Set(before).size).toBe(1);
    const callsBefore = await webhookCalls();
    const pods = await underLoad(world(), () =>
      eventually(async () => {
        const now = await fingerprintsOf(replicas);
        expect(new Set(now).size).toBe(1);
        expect(now).not.toEqual(before);
      }, RENEWAL_MILLIS),
    );
    await expectAllAnswered(callsBefore, pods);
  });
});

/** Replicas look once a minute: first the leader, to renew, then each of the others. */
const RENEWAL_MILLIS = 240_000;

async function expectAllAnswered(before: Awaited<ReturnType<typeof webhookCalls>>, pods: number): Promise<void> {
  const after = await webhookCalls();
  expect(after.failedOpen).toBe(before.failedOpen);
  expect(after.rejected).toBe(before.rejected);
  expect(after.answered - before.answered).toBeGreaterThanOrEqual(pods);
  expect(pods).toBeGreaterThan(12);
}

/** As the operator made it 70 days ago. */
async function agedCertificate(): Promise<{ readonly leaf: CertificatePair; readonly authority: Authority }> {
  const authority = await makeAuthority();
  const leaf = await issueServerCertificate(authority, {
    commonName: WEBHOOK_NAME,
    dnsNames: [WEBHOOK_NAME],
    notBeforeMillis: clock.now() - 70 * DAY_MILLIS,
    notAfterMillis: clock.now() + 20 * DAY_MILLIS,
  });
  return { leaf, authority };
}

function secretOf({ leaf, authority }: Awaited<ReturnType<typeof agedCertificate>>): KubeObject {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return {
    metadata: { name: CERTIFICATE_SECRET },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': encode(leaf.certificatePem),
      'tls.key': encode(leaf.privateKeyPem),
      'ca.crt': encode(authority.certificatePem),
    },
  } as KubeObject;
}
