/** Tells the API server which authority to trust when it calls the webhook. */
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';

const MAX_ATTEMPTS = 3;

/**
 * Puts the bundle (PEM) into every webhook of the configuration; writes only where it differs.
 * @returns false when there is no such configuration (yet).
 */
export async function publishBundle(api: KubeApi, configurationName: string, bundle: string): Promise<boolean> {
  const caBundle = Buffer.from(bundle).toString('base64');
  for (let attempt = 1; ; attempt++) {
    try {
      const configuration = await api.get(resources.mutatingWebhookConfigurations, configurationName);
      const webhooks = configuration.webhooks ?? [];
      if (webhooks.every(({ clientConfig }) => clientConfig.caBundle === caBundle)) return true;
      const trusting = webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }));
      await api.replace(resources.mutatingWebhookConfigurations, { ...configuration, webhooks: trusting });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // Somebody else wrote it meanwhile, another replica perhaps.
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
