/** Which proxy leads to a source of usage: that of the environment, by the rules that lead to the API server. */
import { proxyOfEnvironment } from '../../kube/auth/proxy-choice.ts';

/** Undefined: it is asked directly. @throws StowageError for a proxy that cannot be used. */
export type SourceProxy = (server: URL) => URL | undefined;

/** Services of the cluster, which no proxy outside knows, and which a pod has always reached without. */
const SERVICE = /\.svc(\.|$)/;

export function proxyOfSources(env: Readonly<Record<string, string | undefined>>): SourceProxy {
  return (server) =>
    SERVICE.test(server.hostname)
      ? undefined
      : proxyOfEnvironment(server, env, `name ${server.hostname} in NO_PROXY where it can be reached without`);
}
