/**
 * The cluster of the kubeconfig for as long as a command works on it; what goes wrong there is told with its address.
 */
import { homedir } from 'node:os';
import type { KubeApi } from '../api/kube-api.ts';
import { isForbidden, isUnauthorized, KubeError } from '../api/kube-error.ts';
import { loadConnection } from '../kube/auth/load-connection.ts';
import { createKubeApi } from '../kube/client.ts';
import { describeError, hasErrorCode } from '../lib/errors.ts';
import { createLogger, createStderrWriter } from '../lib/log.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import type { CliContext } from './cli-context.ts';
import { CommandError, UsageError } from './cli-error.ts';

export interface ClusterHints {
  /** What else to do where the cluster cannot be reached, after the kubeconfig was checked. */
  readonly otherwise?: string;
  /** What to do where a right is missing. */
  readonly rights?: string;
}

/** Where the page on rights is, for messages. */
export const RIGHTS_PAGE = 'docs/rights.md says which a command needs';

/**
 * @param work gets the API, and the address and context in words.
 * @throws CommandError saying what the cluster refused, or that it cannot be reached, and what to do.
 */
export async function withCluster<Result>(
  { io, global }: Pick<CliContext, 'io' | 'global'>,
  work: (api: KubeApi, source: string) => Promise<Result>,
  { otherwise = '', rights = `Ask for the right: ${RIGHTS_PAGE}` }: ClusterHints = {},
): Promise<Result> {
  const { clock, random, env } = io;
  const { kubeconfig, context, debug } = global;
  const connection = await loadConnection({
    env,
    homeDirectory: homedir(),
    clock,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const level = debug ? 'debug' : 'error';
  const log = createLogger({ level, format: 'text', clock, write: createStderrWriter() });
  const api = createKubeApi({ connection, clock, random, log });
  const source = `${connection.server.href} (${connection.description})`;
  try {
    // Before the first call: a plugin that waits for somebody to sign in would pass for an API server that is silent.
    await untilAborted(connection.credentials.current(), io.signal);
    return await work(api, source);
  } catch (error) {
    if (error instanceof CommandError || error instanceof UsageError || io.signal.aborted) throw error;
    const what = error instanceof KubeError ? 'refused' : 'cannot be read';
    const advice = isForbidden(error) ? rights : adviceFor(error, otherwise);
    const why = describeError(error).replace(/\.$/, '');
    throw new CommandError(`the cluster at ${source} ${what}: ${why}. ${advice}.`, { cause: error });
  } finally {
    api.close();
  }
}

/** Codes of certificates that are not trusted (OpenSSL, X509_V_ERR_*). */
const UNTRUSTED = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];

function adviceFor(error: unknown, otherwise: string): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (UNTRUSTED.some((code) => hasErrorCode(cause, code)))
    return 'Name the authority that signed its certificate as certificate-authority of the cluster in the kubeconfig';
  if (isUnauthorized(error)) return 'Check the credentials of --kubeconfig and --context';
  return `Check --kubeconfig and --context${otherwise === '' ? '' : `, or ${otherwise}`}`;
}
