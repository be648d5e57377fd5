/** What an exec plugin is told of the cluster, where the kubeconfig says provideClusterInfo. */
import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { describeFileError } from '../../lib/errors.ts';
import { isRecord } from '../../lib/is-record.ts';
import { type Entry, KubeconfigError, pathOf, textOf } from './kubeconfig-file.ts';

/** Name of the cluster's extension that is meant for plugins. */
const PLUGIN_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * As client-go's ConfigToExecCluster (rest/exec.go): an authority in a file is given as data, read anew each time.
 * @throws KubeconfigError where that file cannot be read.
 */
export async function execClusterInfo(cluster: Entry, server: URL): Promise<object> {
  const { fields } = cluster;
  const texts = ['tls-server-name', 'proxy-url'].flatMap((key) => {
    const text = textOf(fields, key);
    return text === undefined ? [] : [[key, text] as const];
  });
  const authority = textOf(fields, 'certificate-authority-data') ?? (await authorityInFile(cluster));
  const config = configOf(fields['extensions']);
  return {
    server: server.href,
    ...Object.fromEntries(texts),
    ...(authority !== undefined && { 'certificate-authority-data': authority }),
    ...(fields['insecure-skip-tls-verify'] === true && { 'insecure-skip-tls-verify': true }),
    ...(config !== undefined && { config }),
  };
}

/** Base64. */
async function authorityInFile(cluster: Entry): Promise<string | undefined> {
  const path = pathOf(cluster, 'certificate-authority');
  if (path === undefined) return undefined;
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new KubeconfigError(`Cannot read the CA certificate ${path}: ${describeFileError(cause)}.`, cause);
  });
  return Buffer.from(bytes).toString('base64');
}

function configOf(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const own = extensions.filter(isRecord).find(({ name }) => name === PLUGIN_EXTENSION);
  return own?.['extension'];
}
