/** Tells the API server which authority to trust when it calls the webhook. */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, isNotFound } from '../api/kube-error.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Config } from '../config/schema.ts';

/** Replicas that start together write at the same time. */
const MAX_ATTEMPTS = 3;

/** Told what is published, in PEM: whether it may stay as it is. */
export type Suffices = (published: string) => boolean;

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
  suffices?: Suffices,
): Promise<WebhookConfigurationRef | undefined> {
  let missing: WebhookConfigurationRef | undefined;
  for (const { name, type } of configurations) {
    if (!(await publishBundle(api, name, bundle, { type, suffices }))) missing ??= { name, type };
  }
  return missing;
}

/**
 * Puts the bundle (PEM) into every webhook of the configuration; writes only where it does not suffice, so that replicas
 * and restarts do not wake the API servers.
 * @param options the default is a mutating configuration, in which nothing but the bundle itself suffices.
 * @returns false when there is no such configuration (yet).
 * @throws KubeError for any other answer, and after three conflicts in a row.
 */
export async function publishBundle(
  api: KubeApi,
  configurationName: string,
  bundle: string,
  options: { readonly type?: WebhookConfigurationRef['type']; readonly suffices?: Suffices | undefined } = {},
): Promise<boolean> {
  const { type = resources.mutatingWebhookConfigurations, suffices = (published) => published === bundle } = options;
  const caBundle = Buffer.from(bundle).toString('base64');
  const isEnough = (published = ''): boolean => suffices(Buffer.from(published, 'base64').toString('utf8'));
  for (let attempt = 1; ; attempt++) {
    try {
      const configuration = await api.get<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>(
        type,
        configurationName,
      );
      const webhooks = configuration.webhooks ?? [];
      if (webhooks.every(({ clientConfig }) => isEnough(clientConfig.caBundle))) return true;
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
