/** `helm upgrade --reuse-values` renders the new chart with the values that an older one had: it knows nothing of what came later. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { isRecord } from '../../src/lib/is-record.ts';
import { CHART, findHelm, type Manifest, render, root } from './render.ts';

const { programs, missing } = await findHelm();

const valuesOf = (path: string): Readonly<Record<string, unknown>> => parse(readFileSync(join(root, path), 'utf8'));
const present = valuesOf(`${CHART}/values.yaml`);
const first = valuesOf('test/chart/first-values.yaml');

/** Where `values` has something that `older` lacks: free-form content of a value that both have is no value of its own. */
function laterPaths(values: object, older: object, prefix: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(values).flatMap(([key, value]): readonly (readonly string[])[] => {
    const path = [...prefix, key];
    const before: unknown = Object.entries(older).find(([name]) => name === key)?.[1];
    const own = isRecord(value) ? Object.keys(value).map((name) => [...path, name]) : [];
    if (!Object.hasOwn(older, key)) return [path, ...own];
    return isRecord(value) && isRecord(before) ? laterPaths(value, before, path) : [];
  });
}

function without(values: Readonly<Record<string, unknown>>, [key = '', ...rest]: readonly string[]): object {
  const { [key]: value, ...others } = values;
  return rest.length === 0 || !isRecord(value) ? others : { ...others, [key]: without(value, rest) };
}

/** The present chart, with these values for its own. */
function chartWith(values: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, CHART), folder, { recursive: true });
  writeFileSync(join(folder, 'values.yaml'), stringify(values));
  return folder;
}

const identities = (objects: readonly Manifest[]): readonly string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`);
const allEngines = { set: ['engines.rightsizing=true', 'engines.allocation=true'] };

describe.skipIf(missing !== undefined)('values of an older chart', () => {
  const later = laterPaths(present, first);

  test('there are some', () => {
    expect(later.map((path) => path.join('.'))).toEqual(
      expect.arrayContaining(['rightsizing', 'rightsizing.namespaceLabels', 'agent.serviceAccount', 'hostNetwork']),
    );
  });

  test.each([
    ['placement', []],
    ['rightsizing', ['engines.placement=false', 'engines.rightsizing=true']],
    ['allocation', ['engines.placement=false', 'engines.allocation=true']],
    ['all', allEngines.set],
  ])('those of the first make the same objects: engine %s', (_, set) => {
    const older = render(programs, { set, chart: chartWith(first) });
    expect(identities(older)).toEqual(identities(render(programs, { set })));
  });

  test.each(later.map((path) => [path.join('.'), path] as const))('nothing fails or goes without %s', (_, path) => {
    const older = render(programs, { ...allEngines, chart: chartWith(without(present, path)) });
    expect(identities(older)).toEqual(identities(render(programs, allEngines)));
  });
});
