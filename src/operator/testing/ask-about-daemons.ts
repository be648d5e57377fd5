/** The operator is asked about new pods of DaemonSets as well, as the chart registers its webhook where rightsizing is on. */
import type { KubeObject } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { type EmbeddedWorld, readManifests } from './embedded-world.ts';

export async function askAboutDaemons(world: EmbeddedWorld): Promise<void> {
  const found = readManifests('webhook.yaml').find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  const text = JSON.stringify(found).replace("'StatefulSet']", "'StatefulSet', 'DaemonSet']");
  const { webhooks } = JSON.parse(text) as KubeObject & { webhooks: unknown };
  const name = found?.metadata?.name ?? '';
  await world.api.patch(resources.mutatingWebhookConfigurations, name, { type: 'merge', body: { webhooks } });
}
