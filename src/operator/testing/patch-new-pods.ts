/** A mutating webhook of others, as a mesh, a RuntimeClass or a policy engine has: it changes new pods before they are stored. */
import type { MutatingWebhookConfiguration } from '../../api/core.ts';
import type { JsonPatchOperation } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { stringAt } from '../../cluster/apiserver/json.ts';
import type { EmbeddedWorld } from './embedded-world.ts';

/** From now on each new pod is patched so. Webhooks are asked in the order of their names: this one before the operator's. */
export async function patchNewPods(world: EmbeddedWorld, operation: JsonPatchOperation): Promise<void> {
  world.server.core.localWebhooks.set('default/adding', (review) => ({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: stringAt(review, 'request', 'uid'),
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify([operation])).toString('base64'),
    },
  }));
  // The published type of rules lacks `resources`.
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const clientConfig = { service: { namespace: 'default', name: 'adding' } };
  const hook = {
    name: 'adding.stowage.test',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig,
    rules,
  };
  const configuration: MutatingWebhookConfiguration = { metadata: { name: 'adding' }, webhooks: [hook] };
  await world.api.create(resources.mutatingWebhookConfigurations, configuration);
}
