/** The `exec` section of a kubeconfig user, checked. */

import { isAbsolute, resolve } from 'node:path';
import { isRecord } from '../../lib/is-record.ts';
import { type Entry, KubeconfigError, textOf } from './kubeconfig-file.ts';

/** Source: client-go's ExecConfig (tools/clientcmd/api/types.go). */
export interface ExecSettings {
  readonly apiVersion: string;
  /** Absolute when it was given with a folder; a bare name is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What to tell the user when the command is not there. */
  readonly installHint: string | undefined;
  readonly providesClusterInfo: boolean;
  /** For messages. */
  readonly user: string;
}

const SUPPORTED_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** @throws KubeconfigError */
export function parseExecSettings(exec: unknown, user: Entry, name: string): ExecSettings {
  const fail = (problem: string): never => {
    throw new KubeconfigError(`The exec section of user "${name}" in ${user.file} ${problem}.`);
  };
  if (!isRecord(exec)) return fail('should be a mapping with apiVersion and command');
  const command = textOf(exec, 'command') ?? fail('has no command');
  const apiVersion = textOf(exec, 'apiVersion') ?? fail(`has no apiVersion; use ${SUPPORTED_VERSIONS[0]}`);
  if (!SUPPORTED_VERSIONS.includes(apiVersion)) {
    fail(`has the apiVersion "${apiVersion}"; supported are ${SUPPORTED_VERSIONS.join(' and ')}`);
  }
  if (exec['interactiveMode'] === 'Always')
    fail('needs a terminal (interactiveMode: Always), which Stowage does not give it');
  const args = exec['args'] ?? [];
  if (!Array.isArray(args)) return fail('has args that are not a list');
  const env = exec['env'] ?? [];
  if (!Array.isArray(env)) return fail('has an env that is not a list of name and value');
  const variables = env.map((pair: unknown): [string, string] => {
    const variable = isRecord(pair) ? textOf(pair, 'name') : undefined;
    return isRecord(pair) && variable !== undefined
      ? [variable, textOf(pair, 'value') ?? '']
      : fail('has an env entry without a name');
  });
  return {
    apiVersion,
    // As client-go: a path with a folder is relative to the kubeconfig, a bare name is searched in PATH.
    command: /[/\\]/.test(command) && !isAbsolute(command) ? resolve(user.directory, command) : command,
    args: args.map(String),
    env: Object.fromEntries(variables),
    installHint: textOf(exec, 'installHint'),
    providesClusterInfo: exec['provideClusterInfo'] === true,
    user: name,
  };
}
