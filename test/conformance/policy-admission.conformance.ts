/** Our own validating webhook in front of an API server: what it refuses, what it warns of, and that nothing hangs on it. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { policyObject, policyRecord } from '../../src/model/testing/policies.ts';
import { startWebhookServer, type WebhookServer } from '../../src/webhook/server.ts';
import { createPolicyValidator, VALIDATE_POLICY_PATH } from '../../src/webhook/validate-policy.ts';
import { at, type Namespace } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

const HOUR_MILLIS = 3_600_000;
const GROUP = 'optipod.io';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/optimizationpolicies.${GROUP}`;

describeOnBackends('admission of optimization policies', (cluster) => {
  let space: Namespace;
  let path: string;
  let server: WebhookServer;

  beforeAll(async () => {
    const description = crdDescriptions.find(({ group }) => group === GROUP);
    if (description === undefined) throw new Error('no definition');
    const { must, apply, get, eventually } = cluster();
    await must(apply(`${CRD}?fieldManager=stowage-test&force=true`, customResourceDefinition(description)));
    await eventually(async () => {
      expect((await get(`/apis/${GROUP}/v1alpha1/optimizationpolicies?limit=1`)).status).toBe(200);
    });
  });

  const sent = (name: string, spec: object = {}): Json => {
    const { apiVersion, kind, spec: whole } = policyObject({ name, spec });
    return { apiVersion, kind, metadata: { name }, spec: whole };
  };

  beforeEach(async () => {
    const { post, must, namespace, eventually } = cluster();
    space = await namespace();
    path = `/apis/${GROUP}/v1alpha1/namespaces/${space.name}/optimizationpolicies`;
    const clock = createSystemClock();
    const log = createSilentLogger();
    const validity = { notBeforeMillis: clock.now() - HOUR_MILLIS, notAfterMillis: clock.now() + HOUR_MILLIS };
    const authority = await createAuthority({ ...validity, commonName: 'policy-admission-ca' });
    const pair = await issueServerCertificate(authority, {
      ...validity,
      commonName: 'webhook',
      ipAddresses: ['127.0.0.1'],
    });
    const labels = { 'kubernetes.io/metadata.name': space.name };
    const validate = createPolicyValidator({
      policies: () => [policyRecord({ name: 'known', namespace: space.name })],
      subjects: () => [
        {
          workload: { namespace: space.name, kind: 'Deployment', name: 'web', labels: {} },
          namespace: { name: space.name, labels },
        },
      ],
      limits: { maxSafetyFactor: 2 },
      tenancy: { operatorNamespace: 'stowage-system', allowedPolicyNamespaces: new Set() },
      log,
    });
    server = await startWebhookServer({
      port: 0,
      host: '127.0.0.1',
      keyPair: { cert: pair.certificatePem, key: pair.privateKeyPem },
      handle: () => ({ status: 500, body: '{}' }),
      also: { [VALIDATE_POLICY_PATH]: validate },
      clock,
      log,
    });
    await must(
      post(CONFIGURATIONS, {
        metadata: { name: space.name },
        webhooks: [
          {
            name: 'policies.conformance.stowage.test',
            clientConfig: {
              url: `https://127.0.0.1:${server.port}${VALIDATE_POLICY_PATH}`,
              caBundle: Buffer.from(authority.certificatePem).toString('base64'),
            },
            rules: [
              {
                apiGroups: [GROUP],
                apiVersions: ['v1alpha1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['optimizationpolicies'],
              },
            ],
            namespaceSelector: { matchLabels: labels },
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 30,
            failurePolicy: 'Ignore',
          },
        ],
      }),
    );
    await eventually(async () => {
      const probe = sent('probe', { metricsConfig: { provider: 'prometheus', safetyFactor: 3 } });
      expect((await post(`${path}?dryRun=All`, probe)).status).toBe(422);
    });
  });

  afterEach(async () => {
    await cluster().delete(`${CONFIGURATIONS}/${space.name}`);
    await server.drain({ graceMillis: 0 });
  });

  test('what the schema cannot say is refused with every problem', async () => {
    const { status, body } = await cluster().post(
      path,
      sent('bad', {
        selector: { workloadSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
        metricsConfig: { provider: 'prometheus', safetyFactor: 1.5 },
      }),
    );
    expect(status).toBe(422);
    expect(body['message']).toMatch(
      /denied the request: OptimizationPolicy "bad" is invalid: spec\.selector\.workloadSelector: operator "Like" of "a"/,
    );
  });

  test('a factor above the limit of the organisation is refused, on updates too', async () => {
    const { post, must, mergePatch } = cluster();
    await must(post(path, sent('grows')));
    const { status, body } = await mergePatch(`${path}/grows`, { spec: { metricsConfig: { safetyFactor: 2.5 } } });
    expect(status).toBe(422);
    expect(body['message']).toContain('accepted: 1 to 2 (rightsizing.limits.maxSafetyFactor)');
  });

  test('a tie is taken with a warning', async () => {
    const { status, headers } = await cluster().post(path, sent('tied'));
    expect(status).toBe(201);
    expect(String(headers['warning'])).toContain(
      `weight 100 is that of policy ${space.name}/known too, and both select Deployment ${space.name}/web`,
    );
  });

  test('status is written without asking', async () => {
    const { post, must, mergePatch } = cluster();
    await must(post(path, sent('reported')));
    await server.drain({ graceMillis: 0 });
    const body = await must(mergePatch(`${path}/reported/status`, { status: { workloadsDiscovered: 1 } }));
    expect(at(body, 'status', 'workloadsDiscovered')).toBe(1);
  });

  test('while the webhook is down policies are let in: the operator checks them when it reads them', async () => {
    await server.drain({ graceMillis: 0 });
    const spec = { metricsConfig: { provider: 'prometheus', safetyFactor: 3 } };
    expect((await cluster().post(path, sent('unchecked', spec))).status).toBe(201);
  });
});
