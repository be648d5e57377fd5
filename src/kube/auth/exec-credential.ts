/**
 * Credentials from an exec plugin (aws, gke-gcloud-auth-plugin, kubelogin ...), cached until they expire or are
 * refused.
 */

import { spawn } from 'node:child_process';
import type { Clock } from '../../lib/clock.ts';
import { hasErrorCode, StowageError } from '../../lib/errors.ts';
import { isRecord } from '../../lib/is-record.ts';
import { tryParseJson } from '../../lib/try-parse-json.ts';
import type { CredentialSource, Credentials } from '../connection.ts';
import type { ExecSettings } from './exec-settings.ts';
import { textOf } from './kubeconfig-file.ts';

/** The plugin did not give credentials; the message says why and how to mend it. */
export class ExecCredentialError extends StowageError {
  override readonly name = 'ExecCredentialError';

  constructor(message: string, cause?: unknown) {
    super('KUBE_EXEC_CREDENTIAL', message, { cause });
  }
}

/** What the plugin is started with, besides its own settings. */
export interface ExecContext {
  /** Given to the plugin where the kubeconfig says provideClusterInfo; asked for each time it runs. */
  readonly clusterInfo: () => Promise<object>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

interface Cached {
  readonly credentials: Credentials;
  /** Epoch milliseconds; undefined: until refused. */
  readonly expiresMillis: number | undefined;
}

/** A plugin may ask a server of its own, or a browser, which it must not here. */
const TIMEOUT_MILLIS = 60_000;
/** What is printed beyond it is dropped, so that a plugin gone wild does not fill the memory. */
const MAX_OUTPUT_CHARACTERS = 1 << 20;

/**
 * The plugin runs when credentials are asked for first, when they have expired, and when the API server refused them;
 * never twice at a time. It is given no terminal, and a minute.
 */
export function createExecCredentials(settings: ExecSettings, context: ExecContext): CredentialSource {
  let cached: Cached | undefined;
  let running: Promise<Cached> | undefined;

  const refresh = async (): Promise<Cached> => {
    try {
      const cluster = settings.providesClusterInfo ? await context.clusterInfo() : undefined;
      cached = parseOutput(await runPlugin(settings, context, cluster), settings);
      return cached;
    } finally {
      running = undefined;
    }
  };

  return {
    async current() {
      const isValid = cached !== undefined && (cached.expiresMillis ?? Number.POSITIVE_INFINITY) > context.clock.now();
      if (cached !== undefined && isValid) return cached.credentials;
      // Many requests may find it expired at once; the plugin runs once for all of them.
      running ??= refresh();
      return (await running).credentials;
    },
    invalidate(refused) {
      if (cached?.credentials === refused) cached = undefined;
    },
  };
}

function runPlugin(settings: ExecSettings, { env, clock }: ExecContext, cluster: object | undefined): Promise<string> {
  const info = {
    apiVersion: settings.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(cluster !== undefined && { cluster }) },
  };
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void =>
      reject(new ExecCredentialError(describe(settings, problem), cause));
    const child = spawn(settings.command, settings.args, {
      env: { ...env, ...settings.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = clock.setTimer(TIMEOUT_MILLIS, () => {
      child.kill('SIGKILL');
      // As a rule it waits for somebody to sign in, and says there how.
      fail(`did not end within ${TIMEOUT_MILLIS / 1000} s${said()}`);
    });
    let output = '';
    let complaints = '';
    const said = (): string => complaints && `: ${complaints.trim()}`;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, MAX_OUTPUT_CHARACTERS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-500);
    });
    child.on('error', (error) => {
      timer.cancel();
      if (hasErrorCode(error, 'ENOENT'))
        fail(`was not found. ${settings.installHint ?? 'Install it, or put it in PATH'}`, error);
      else fail(`could not be started: ${error.message}`, error);
    });
    child.on('close', (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(output);
      else fail(`ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}${said()}`);
    });
  });
}

/** @throws ExecCredentialError, which never quotes the output. */
function parseOutput(output: string, settings: ExecSettings): Cached {
  const fail = (problem: string): never => {
    throw new ExecCredentialError(describe(settings, problem));
  };
  const answer = tryParseJson(output);
  // The output may hold a secret, so it is not quoted.
  if (answer === undefined) return fail('did not print an ExecCredential as JSON');
  if (!isRecord(answer) || answer['kind'] !== 'ExecCredential') return fail('did not print an ExecCredential');
  if (answer['apiVersion'] !== settings.apiVersion) {
    return fail(`answered in ${String(answer['apiVersion'])}, but the kubeconfig asks for ${settings.apiVersion}`);
  }
  const status = answer['status'];
  if (!isRecord(status)) return fail('printed an ExecCredential without a status');
  const token = textOf(status, 'token');
  const certificate = textOf(status, 'clientCertificateData');
  const privateKey = textOf(status, 'clientKeyData');
  if ((certificate === undefined) !== (privateKey === undefined))
    return fail('gave a client certificate without a key, or a key without one');
  if (token === undefined && certificate === undefined) return fail('gave neither a token nor a client certificate');
  const expiry = textOf(status, 'expirationTimestamp');
  const expiresMillis = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresMillis)) return fail(`gave the expirationTimestamp "${expiry}", which is no RFC 3339 time`);
  return {
    credentials: {
      ...(token !== undefined && { token }),
      ...(certificate !== undefined && privateKey !== undefined && { certificate, privateKey }),
    },
    expiresMillis,
  };
}

function describe(settings: ExecSettings, problem: string): string {
  return `The credential plugin "${settings.command}" of user "${settings.user}" ${problem}.`;
}
