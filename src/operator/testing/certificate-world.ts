/** An API server in virtual time, and operators that have their certificate from it. */
import { onTestFinished } from 'vitest';
import type { MutatingWebhookConfiguration } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { createApiServer } from '../../cluster/apiserver/api-server.ts';
import { configOf } from '../../config/testing/load-text.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { selfCertificate } from '../self-certificate.ts';
import { namespaceObject, readManifests } from './embedded-world.ts';

/** That Stowage makes its own certificates. */
export const config = configOf('', { SPOTALIS_WEBHOOK_CERTIFICATES: 'self' });
/** Of a start that nobody ends. */
export const unstopped = new AbortController().signal;

export async function createWorld() {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const server = createApiServer({ clock, random: createSeededRandom(1) });
  onTestFinished(() => server.close());
  const api = server.client();
  await api.create(resources.namespaces, namespaceObject('spotalis-system'));
  const register = async (): Promise<void> => {
    const configuration = readManifests('webhook.yaml').find(({ kind }) => kind === 'MutatingWebhookConfiguration');
    await api.create(resources.mutatingWebhookConfigurations, configuration as MutatingWebhookConfiguration);
  };
  /** Issuing keys is real work in threads, slow on a busy machine: time goes on in small steps until it is done. */
  const settle = async (done: () => boolean | Promise<boolean>, stepMillis = 0): Promise<void> => {
    for (let step = 0; step < 100_000; step++) {
      if (await done()) return;
      await clock.advance(stepMillis);
    }
    throw new Error('it never happened');
  };
  const obtain = (isLeader: boolean, client: KubeApi = api, signal = unstopped) =>
    selfCertificate({ api: client, config, isLeader: () => isLeader, clock, log: createSilentLogger(), signal });
  return { clock, api, register, settle, obtain };
}
