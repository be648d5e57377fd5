/** Tells the API server which authority to trust when it calls the webhook. */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, isNotFound } from '../api/kube-error.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Config } from '../config/schema.ts';

/** Replicas that start together write at the same time. */
const MAX_ATTEMPTS = 3;

/** A webhook configuration that names this operator's webhook. */
export interface WebhookConfigurationRef {
  readonly type: ResourceType<MutatingWebhookConfiguration> | ResourceType<ValidatingWebhookConfiguration>;
  readonly name: string;
}

/** Those that an installation with this configuration has. */
export function webhookConfigurationsOf({ engines, webhook }: Config): readonly WebhookConfigurationRef[] {
  const mutating = { type: resources.mutatingWebhookConfigurations, name: webhook.configurationName };
  const validating = { type: resources.validatingWebhookConfigurations, name: webhook.validatingConfigurationName };
  // Both answer for new pods.
  const forPods = engines.placement || engines.rightsizing ? [mutating] : [];
  return [...forPods, ...(engines.rightsizing ? [validating] : [])];
}

/**
 * {@link publishBundle} for each; all are tried, whichever is missing.
 * @returns the first that is not there (yet); undefined when all were reached.
 */
export async function publishToAll(
  api: KubeApi,
  configurations: readonly WebhookConfigurationRef[],
  bundle: string,
): Promise<WebhookConfigurationRef | undefined> {
  let missing: WebhookConfigurationRef | undefined;
  for (const configuration of configurations) {
    if (!(await publishBundle(api, configuration.name, bundle, configuration.type))) missing ??= configuration;
  }
  return missing;
}

/**
 * Puts the bundle (PEM) into every webhook of the configuration; writes only where it differs, so that replicas and
 * restarts do not wake the API servers.
 * @returns false when there is no such configuration (yet).
 * @throws KubeError for any other answer, and after three conflicts in a row.
 */
export async function publishBundle(
  api: KubeApi,
  configurationName: string,
  bundle: string,
  type: WebhookConfigurationRef['type'] = resources.mutatingWebhookConfigurations,
): Promise<boolean> {
  const caBundle = Buffer.from(bundle).toString('base64');
  for (let attempt = 1; ; attempt++) {
    try {
      const configuration = await api.get<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>(
        type,
        configurationName,
      );
      const webhooks = configuration.webhooks ?? [];
      if (webhooks.every(({ clientConfig }) => clientConfig.caBundle === caBundle)) return true;
      const trusting = webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }));
      await api.replace<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>(type, {
        ...configuration,
        webhooks: trusting,
      });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // Somebody else wrote it meanwhile, another replica perhaps.
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
