/** The connection a kubeconfig's context describes. */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../lib/clock.ts';
import {
  type Connection,
  type CredentialSource,
  fixedTrust,
  type Impersonation,
  type TrustSource,
} from '../connection.ts';
import { execClusterInfo } from './exec-cluster-info.ts';
import { createExecCredentials } from './exec-credential.ts';
import { parseExecSettings } from './exec-settings.ts';
import { createFileSource, type FileSource } from './file-source.ts';
import { type Entry, type Kubeconfig, KubeconfigError, pathOf, readKubeconfig, textOf } from './kubeconfig-file.ts';
import { proxyFor } from './proxy-choice.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeconfigOptions {
  /** Merged in this order. */
  readonly files: readonly string[];
  /** Default: the files' current-context. */
  readonly context?: string;
  readonly env: Environment;
  readonly clock: Clock;
}

/** @throws KubeconfigError when anything is missing, unknown or not supported. */
export async function kubeconfigConnection(options: KubeconfigOptions): Promise<Connection> {
  const config = await readKubeconfig(options.files);
  const where = config.files.join(', ');
  const contextName = options.context ?? config.currentContext;
  if (contextName === undefined) {
    throw new KubeconfigError(
      config.contexts.size === 0
        ? `The kubeconfig ${where} has no contexts. Name another with --kubeconfig or KUBECONFIG.`
        : `The kubeconfig ${where} has no current-context; choose one of: ${namesOf(config.contexts)}.`,
    );
  }
  const context = entryOf(config, 'contexts', contextName, where);
  const clusterName = textOf(context.fields, 'cluster');
  if (clusterName === undefined)
    throw new KubeconfigError(`Context "${contextName}" in ${context.file} names no cluster.`);
  const cluster = entryOf(config, 'clusters', clusterName, where);
  const userName = textOf(context.fields, 'user');
  const user = userName === undefined ? undefined : entryOf(config, 'users', userName, where);
  const server = serverOf(cluster, clusterName);
  const proxy = proxyFor(server, cluster, clusterName, options.env);
  const impersonation = user && impersonationOf(user);
  return {
    server,
    description: `context "${contextName}" of ${where}`,
    namespace: textOf(context.fields, 'namespace') ?? 'default',
    trust: trustOf(cluster, clusterName, options.clock),
    credentials: user === undefined ? anonymous() : credentialsOf(user, userName ?? '', cluster, server, options),
    ...(proxy && { proxy }),
    ...(impersonation && { impersonation }),
  };
}

const namesOf = (entries: ReadonlyMap<string, Entry>): string => [...entries.keys()].join(', ') || '(there are none)';

function entryOf(config: Kubeconfig, section: 'clusters' | 'users' | 'contexts', name: string, where: string): Entry {
  const entry = config[section].get(name);
  if (entry === undefined) {
    throw new KubeconfigError(
      `The kubeconfig ${where} has no "${name}" in ${section}; there are: ${namesOf(config[section])}.`,
    );
  }
  return entry;
}

function serverOf(cluster: Entry, name: string): URL {
  const text = textOf(cluster.fields, 'server');
  if (text === undefined) throw new KubeconfigError(`Cluster "${name}" in ${cluster.file} has no server.`);
  // As kubectl: a server without a scheme is https.
  const address = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new KubeconfigError(
      `Cluster "${name}" in ${cluster.file} has the server "${text}", which is no http or https URL.`,
    );
  }
  return url;
}

/** Read again while the process runs where it is a file. */
function trustOf(cluster: Entry, name: string, clock: Clock): TrustSource {
  const serverName = textOf(cluster.fields, 'tls-server-name');
  const isInsecure = cluster.fields['insecure-skip-tls-verify'] === true;
  const base = { ...(serverName !== undefined && { serverName }), ...(isInsecure && { isInsecure }) };
  const data = decodeOf(cluster, 'certificate-authority-data', `cluster "${name}"`);
  const path = pathOf(cluster, 'certificate-authority');
  if (isInsecure && (data !== undefined || path !== undefined)) {
    throw new KubeconfigError(
      `Cluster "${name}" in ${cluster.file} has both a certificate-authority and insecure-skip-tls-verify; remove one of them.`,
    );
  }
  if (data !== undefined) return fixedTrust({ ...base, ca: data });
  if (path === undefined) return fixedTrust(base);
  const file = createFileSource(path, `CA certificate of cluster "${name}"`, clock);
  return { current: async () => ({ ...base, ca: await file.read() }), invalidate: file.invalidate };
}

/** Base64 of a `...-data` field. Data wins over the file of the same meaning, as in kubectl. */
function decodeOf(entry: Entry, key: string, what: string): string | undefined {
  const text = textOf(entry.fields, key)?.replace(/\s/g, '');
  if (text === undefined) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new KubeconfigError(`The ${key} of ${what} in ${entry.file} is not base64.`);
  return Buffer.from(text, 'base64').toString('utf8');
}

const anonymous = (): CredentialSource => ({ current: async () => ({}), invalidate() {} });

/** With one of these an exec plugin beside them is not asked. Source: client-go, exec's UpdateTransportConfig. */
const OWN_CREDENTIALS = ['token', 'tokenFile', 'client-certificate', 'client-certificate-data'] as const;

/** In kubectl's order: whatever there is of a token and a client certificate, else an exec plugin. */
function credentialsOf(
  user: Entry,
  name: string,
  cluster: Entry,
  server: URL,
  { env, clock }: KubeconfigOptions,
): CredentialSource {
  const what = `user "${name}"`;
  refuseUnsupported(user, name);
  const exec = user.fields['exec'];
  const hasOwn = OWN_CREDENTIALS.some((key) => textOf(user.fields, key) !== undefined);
  if (exec !== undefined && exec !== null && !hasOwn) {
    const clusterInfo = (): Promise<object> => execClusterInfo(cluster, server);
    return createExecCredentials(parseExecSettings(exec, user, name), { clusterInfo, env, clock });
  }
  const fileSource = (key: string, kind: string): FileSource | undefined => {
    const path = pathOf(user, key);
    return path === undefined ? undefined : createFileSource(path, `${kind} of ${what}`, clock);
  };
  const fixed = {
    token: textOf(user.fields, 'token'),
    certificate: decodeOf(user, 'client-certificate-data', what),
    privateKey: decodeOf(user, 'client-key-data', what),
  };
  const files = {
    // A token file wins over a token, as in client-go: it may be newer.
    token: fileSource('tokenFile', 'token'),
    certificate: fixed.certificate === undefined ? fileSource('client-certificate', 'client certificate') : undefined,
    privateKey: fixed.privateKey === undefined ? fileSource('client-key', 'client key') : undefined,
  };
  const hasCertificate = (fixed.certificate ?? files.certificate) !== undefined;
  if (hasCertificate !== ((fixed.privateKey ?? files.privateKey) !== undefined)) {
    const missing = hasCertificate ? 'client-key' : 'client-certificate';
    throw new KubeconfigError(
      `User "${name}" in ${user.file} lacks the ${missing}; certificate and key are needed together.`,
    );
  }
  return {
    async current() {
      const [token, certificate, privateKey] = await Promise.all([
        files.token?.read().then((text) => text.trim()) ?? fixed.token,
        files.certificate?.read() ?? fixed.certificate,
        files.privateKey?.read() ?? fixed.privateKey,
      ]);
      return {
        ...(token !== undefined && { token }),
        ...(certificate !== undefined && privateKey !== undefined && { certificate, privateKey }),
      };
    },
    invalidate() {
      for (const file of Object.values(files)) file?.invalidate();
    },
  };
}

/** Said now: without them requests would be anonymous, and refused for reasons that nobody understands. */
function refuseUnsupported(user: Entry, name: string): void {
  if (textOf(user.fields, 'username') !== undefined || textOf(user.fields, 'password') !== undefined) {
    throw new KubeconfigError(
      `User "${name}" in ${user.file} has a username and password. Kubernetes dropped basic authentication in 1.19; use a token, a client certificate or an exec plugin.`,
    );
  }
  const provider = user.fields['auth-provider'];
  if (provider !== undefined && provider !== null) {
    throw new KubeconfigError(
      `User "${name}" in ${user.file} uses the old auth-provider, which is not supported; use an exec plugin of your provider (such as "kubectl oidc-login") instead.`,
    );
  }
}

function impersonationOf(user: Entry): Impersonation | undefined {
  const { fields } = user;
  const asUser = textOf(fields, 'as');
  if (asUser === undefined) return undefined;
  const uid = textOf(fields, 'as-uid');
  const groups = listOf(fields['as-groups']);
  const extra = fields['as-user-extra'];
  const pairs = typeof extra === 'object' && extra !== null ? Object.entries(extra) : [];
  return {
    user: asUser,
    ...(uid !== undefined && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(pairs.length > 0 && { extra: Object.fromEntries(pairs.map(([key, values]) => [key, listOf(values)])) }),
  };
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
