/** The cluster's name server, as far as its Services go: pods find them by name at the address the kubelets tell them. */
import { createSocket } from 'node:dgram';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { isNotFound, unless } from '../../../src/api/kube-error.ts';
import { resources } from '../../../src/api/resources.ts';
import { NODE_ADDRESS } from '../host/network-namespace.ts';
import { answer, readQuestion } from './dns-message.ts';
import { CLUSTER_DOMAIN } from './node-files.ts';

const NAME = new RegExp(
  String.raw`^([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.${CLUSTER_DOMAIN.replaceAll('.', String.raw`\.`)}$`,
);

/** Answers from this process, which must not block meanwhile. @returns what ends it. */
export async function startClusterDns(api: KubeApi): Promise<() => Promise<void>> {
  const socket = createSocket('udp4');
  const addressOf = async (name: string): Promise<string | undefined> => {
    const [, service, namespace] = NAME.exec(name) ?? [];
    if (service === undefined || namespace === undefined) return undefined;
    return (await unless(isNotFound, api.get(resources.services, service, { namespace })))?.spec?.clusterIP;
  };
  socket.on('message', (message, { port, address }) => {
    const question = readQuestion(message);
    if (question === undefined) return;
    addressOf(question.name)
      .then((found) => socket.send(answer(message, found && (question.isAddress ? found : 'none')), port, address))
      // Unanswered, it is asked again.
      .catch(() => undefined);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, NODE_ADDRESS, resolve);
  });
  return () => new Promise((resolve) => socket.close(() => resolve()));
}
