import { describe, expect, onTestFinished, test } from 'vitest';
import type { MutatingWebhookConfiguration } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { configOf } from '../config/testing/load-text.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { publishBundle, webhookConfigurationsOf } from './ca-bundle.ts';
import { readManifests } from './testing/embedded-world.ts';

const NAME = 'spotalis-mutating-webhook';
const bundle = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

async function createWorld() {
  const server = createApiServer({ clock: createVirtualClock(0), random: createSeededRandom(1) });
  onTestFinished(() => server.close());
  const api = server.client();
  const manifest = readManifests('webhook.yaml').find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  await api.create(resources.mutatingWebhookConfigurations, manifest as MutatingWebhookConfiguration);
  const read = () => api.get(resources.mutatingWebhookConfigurations, NAME);
  return { api, server, read };
}

/** What cloud platforms do to every webhook configuration: they keep their own namespaces out, and mark it. */
async function enforce(api: KubeApi): Promise<void> {
  const configuration = await api.get(resources.mutatingWebhookConfigurations, NAME);
  const exclusion = { key: 'control-plane', operator: 'NotIn', values: ['true'] };
  const webhooks = (configuration.webhooks ?? []).map((webhook) => {
    const { matchExpressions = [] } = webhook.namespaceSelector ?? {};
    const isExcluded = matchExpressions.some(({ key }) => key === exclusion.key);
    const namespaceSelector = { matchExpressions: isExcluded ? matchExpressions : [...matchExpressions, exclusion] };
    return { ...webhook, namespaceSelector };
  });
  const metadata = { ...configuration.metadata, annotations: { 'admissions.enforcer/seen': 'true' } };
  await api.replace(resources.mutatingWebhookConfigurations, { ...configuration, metadata, webhooks });
}

describe('publishBundle', () => {
  test('bug 32: what an enforcer adds stays, and does not make the bundle be written again', async () => {
    const { api, read } = await createWorld();
    await enforce(api);
    expect(await publishBundle(api, NAME, bundle)).toBe(true);
    const published = await read();
    expect(published.webhooks?.[0]?.clientConfig.caBundle).toBe(Buffer.from(bundle).toString('base64'));
    expect(published.webhooks?.[0]?.namespaceSelector?.matchExpressions).toHaveLength(3);
    expect(published.metadata?.annotations).toEqual({ 'admissions.enforcer/seen': 'true' });
    // Both look again and again; neither writes.
    for (let round = 0; round < 3; round++) {
      await enforce(api);
      await publishBundle(api, NAME, bundle);
    }
    expect((await read()).metadata?.resourceVersion).toBe(published.metadata?.resourceVersion);
  });

  test('an enforcer that writes at the same time wins nothing and loses nothing', async () => {
    const { api, read } = await createWorld();
    let isFirst = true;
    const contested: KubeApi = {
      ...api,
      async replace(type, object, options) {
        if (isFirst) await enforce(api);
        isFirst = false;
        return api.replace(type, object, options);
      },
    };
    expect(await publishBundle(contested, NAME, bundle)).toBe(true);
    const { webhooks } = await read();
    expect(webhooks?.[0]?.clientConfig.caBundle).toBeDefined();
    expect(webhooks?.[0]?.namespaceSelector?.matchExpressions).toHaveLength(3);
  });

  test('without a configuration there is nothing to publish to', async () => {
    const { api } = await createWorld();
    expect(await publishBundle(api, 'another', bundle)).toBe(false);
  });
});

describe('webhookConfigurationsOf', () => {
  test.each([
    { placement: true, rightsizing: false, kinds: ['MutatingWebhookConfiguration'] },
    { placement: false, rightsizing: true, kinds: ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] },
    { placement: true, rightsizing: true, kinds: ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] },
    { placement: false, rightsizing: false, kinds: [] },
  ])('placement $placement, rightsizing $rightsizing: $kinds', ({ placement, rightsizing, kinds }) => {
    const config = configOf(`engines: { placement: ${placement}, rightsizing: ${rightsizing}, allocation: true }`);
    expect(webhookConfigurationsOf(config).map(({ type }) => type.kind)).toEqual(kinds);
  });
});
