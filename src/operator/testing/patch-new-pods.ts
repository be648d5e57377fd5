/** A mutating webhook of others, as a mesh, a RuntimeClass or a policy engine has: it is asked about new pods before they are stored. */
import type { MutatingWebhookConfiguration } from '../../api/core.ts';
import type { JsonPatchOperation } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { stringAt } from '../../cluster/apiserver/json.ts';
import type { EmbeddedWorld } from './embedded-world.ts';

/** From now on each new pod is patched so. */
export function patchNewPods(world: EmbeddedWorld, operation: JsonPatchOperation): Promise<void> {
  const patch = Buffer.from(JSON.stringify([operation])).toString('base64');
  return answerNewPods(world, 'adding', { allowed: true, patchType: 'JSONPatch', patch });
}

/**
 * From now on this is the answer about each new pod, until the MutatingWebhookConfiguration of this name is deleted. Webhooks
 * are asked in the order of their names: one before the operator's has its say first.
 */
export async function answerNewPods(world: EmbeddedWorld, name: string, answer: object): Promise<void> {
  world.server.core.localWebhooks.set(`default/${name}`, (review) => ({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: stringAt(review, 'request', 'uid'), ...answer },
  }));
  // The published type of rules lacks `resources`.
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const clientConfig = { service: { namespace: 'default', name } };
  const hook = {
    name: `${name}.stowage.test`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig,
    rules,
  };
  const configuration: MutatingWebhookConfiguration = { metadata: { name }, webhooks: [hook] };
  await world.api.create(resources.mutatingWebhookConfigurations, configuration);
}
