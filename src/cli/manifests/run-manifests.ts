/** Prints an installation: a rendered profile with its namespace and image put in, or what helm makes of the chart. */
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { crdsYaml } from '../../api/crd/crd-yaml.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import type { CliContext } from '../cli-context.ts';
import { CommandError, UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { chartFolder, definitionGroups, isProfileName, RENDERED_NAMESPACE, readProfile } from './profiles.ts';

export interface ManifestsOptions {
  readonly values?: string;
  readonly image?: string;
  readonly toDelete?: boolean;
}

const IMAGE = /(image: )(\S+)/g;
/** With these goes what is not of the installation: what else is in the namespace, and all policies. */
const HOLDS_MORE = /^kind: (?:Namespace|CustomResourceDefinition)$/m;
/** A reference as container runtimes take it: registry/repository with a tag or a digest. */
const IMAGE_REFERENCE = /^[a-z0-9][\w.:/-]*(?:@sha256:[0-9a-f]{64})?$/;

export async function runManifests(
  { io, global }: CliContext,
  { values, image, toDelete = false }: ManifestsOptions,
  profile: string | undefined,
): Promise<ExitCode> {
  if (values !== undefined && profile !== undefined)
    throw new UsageError('give a profile or --values, not both: the values say which engines run');
  if (image !== undefined && !IMAGE_REFERENCE.test(image))
    throw new UsageError(`--image is not an image: ${JSON.stringify(image)}; give it as registry/repository:tag`);
  const namespace = global.namespace ?? RENDERED_NAMESPACE;
  const rendered =
    values === undefined ? profileText(profile ?? 'placement', namespace) : helmText(values, namespace, io.env);
  const wanted = toDelete ? withoutKinds(rendered, HOLDS_MORE) : rendered;
  const text = image === undefined ? wanted : wanted.replace(IMAGE, `$1${image}`);
  io.out.write(global.output === 'json' ? asList(text) : text);
  return exitCodes.ok;
}

function profileText(profile: string, namespace: string): string {
  if (!isProfileName(profile)) throw new UsageError(`there is no profile ${profile}`);
  const groups = definitionGroups[profile];
  const definitions = crdDescriptions.filter(({ group }) => groups.includes(group));
  const text = readProfile(profile)
    // Within the user name of an account it is part of a longer text.
    .replaceAll(`:${RENDERED_NAMESPACE}:`, `:${namespace}:`)
    .replaceAll(RENDERED_NAMESPACE, asScalar(namespace));
  return definitions.length === 0 ? text : `${crdsYaml(definitions)}---\n${text}`;
}

/**
 * Of a name that may be all digits, or `on`: YAML, and kubectl's older one, would take it for something else than text.
 */
function asScalar(name: string): string {
  return /^(?:\d.*|true|false|null|yes|no|on|off|y|n)$/.test(name) ? JSON.stringify(name) : name;
}

/** @throws CommandError with helm's words, or with what to do where there is no helm. */
function helmText(values: string, namespace: string, env: CliContext['io']['env']): string {
  const args = ['template', 'stowage', chartFolder, '--namespace', namespace, '--include-crds', '--skip-tests'];
  const { status, error, stdout, stderr } = spawnSync('helm', [...args, '--values', values], {
    encoding: 'utf8',
    env: { ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined)
    throw new CommandError(
      `helm cannot be started (${error.message}): --values needs helm 3.8 or newer on the PATH. Without helm, print a profile and edit it.`,
    );
  if (status !== 0) throw new CommandError(`helm: ${stderr.trim().replace(/^Error: /, '')}`);
  return stdout;
}

function withoutKinds(text: string, kinds: RegExp): string {
  const documents = text.split(/^---\n/m);
  return documents.filter((document) => !kinds.test(document)).join('---\n');
}

function asList(text: string): string {
  const items = parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null);
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`;
}
