/** The chart as objects, rendered by the real helm. */
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/core.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureHelm, type Helm, runHelm } from './helm.ts';

export const root = resolve(import.meta.dirname, '../..');
export const CHART = 'charts/stowage';

export interface RenderOptions {
  /** Values files, relative to the root of the repository. */
  readonly values?: readonly string[];
  /** As `--set` takes them. */
  readonly set?: readonly string[];
  /** Values as an object, over those of the files. */
  readonly inline?: object;
  /** The folder of the chart; default the present one. */
  readonly chart?: string;
  /** Default `stowage`. */
  readonly release?: string;
  /** Default `spotalis-system`. */
  readonly namespace?: string;
}

/** Any object of a manifest: what is read of it is read by path. */
export interface Manifest extends KubeObject {
  readonly [field: string]: unknown;
}

export type Rendered =
  | { readonly ok: true; readonly text: string; readonly objects: readonly Manifest[] }
  | { readonly ok: false; readonly message: string };

/** The programs, or why the tests that need them are left out. */
export async function findHelm(): Promise<{ readonly programs: Helm; readonly missing: string | undefined }> {
  const found = await ensureHelm({ clock: createSystemClock(), env: process.env });
  if (found.ok) return { programs: found.programs, missing: undefined };
  console.log(`tests of the chart are left out: ${found.reason}`);
  return { programs: { helm: '', kubectl: '' }, missing: found.reason };
}

export function renderChart(programs: Helm, options: RenderOptions = {}): Rendered {
  const { values = [], set = [], inline, chart = CHART, release = 'stowage', namespace = 'spotalis-system' } = options;
  const files = values.map((file) => `--values=${file}`);
  const settings = [
    ...(inline === undefined ? [] : [`--set-json=${JSON.stringify(inline)}`]),
    ...set.map((each) => `--set=${each}`),
  ];
  const args = ['template', release, chart, `--namespace=${namespace}`, ...files, ...settings];
  const { status, stdout, stderr } = runHelm(programs, args, root);
  if (status !== 0) return { ok: false, message: stderr };
  return { ok: true, text: stdout, objects: objectsOf(stdout) };
}

/** @throws Error with helm's message when it refuses. */
export function render(programs: Helm, options: RenderOptions = {}): readonly Manifest[] {
  const rendered = renderChart(programs, options);
  if (rendered.ok) return rendered.objects;
  throw new Error(rendered.message);
}

export function objectsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((object): object is Manifest => typeof object === 'object' && object !== null && 'kind' in object);
}

/** @throws Error unless there is exactly one of that kind, and of that name where one is given. */
export function theOnly(objects: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = objects.filter((each) => each.kind === kind && (name === undefined || each.metadata?.name === name));
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) {
    throw new Error(`${found.length} objects of kind ${kind}${name === undefined ? '' : ` and name ${name}`}`);
  }
  return first;
}

/** What lies at a dotted path, `[0]`-style indices as names: `spec.template.spec.containers.0`. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (part, name) =>
        typeof part === 'object' && part !== null ? Object.getOwnPropertyDescriptor(part, name)?.value : undefined,
      value,
    );
}

/** The configuration file of the release. @throws Error when there is none. */
export function configTextOf(objects: readonly Manifest[]): string {
  const name = at(
    objects.find(({ kind }) => kind === 'Deployment'),
    'spec.template.spec.volumes.0.configMap.name',
  );
  const data = at(
    objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata?.name === name),
    'data',
  );
  const text =
    typeof data === 'object' && data !== null ? Object.getOwnPropertyDescriptor(data, 'config.yaml')?.value : undefined;
  if (typeof text !== 'string') throw new Error('the release has no configuration file');
  return text;
}
