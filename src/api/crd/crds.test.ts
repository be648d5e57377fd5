import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { customResourceDefinition } from './crd.ts';
import { crdFiles, crdsYaml } from './crd-yaml.ts';
import { crdDescriptions } from './crds.ts';
import { renderPolicyPage } from './policy-page.ts';

const root = new URL('../../../', import.meta.url);
const definitions = crdDescriptions.map((description): [string, typeof description] => [
  `${description.plural}.${description.group}`,
  description,
]);

/** Every schema within a schema, with its path. */
function* nested(schema: unknown, path: string): Generator<[string, Record<string, unknown>]> {
  if (typeof schema !== 'object' || schema === null) return;
  const record: Record<string, unknown> = { ...schema };
  yield [path, record];
  for (const [name, member] of Object.entries({ ...Object(record['properties']) }))
    yield* nested(member, `${path}.${name}`);
  yield* nested(record['items'], `${path}[]`);
  yield* nested(record['additionalProperties'], `${path}.*`);
}

describe('the files of the repository', () => {
  test.each(Object.entries(crdFiles()))('%s is what the schemas say; `npm run docs` writes it', (path, text) => {
    expect(existsSync(new URL(path, root))).toBe(true);
    expect(readFileSync(new URL(path, root), 'utf8')).toBe(text);
  });

  test('the chart ships these definitions and no other', () => {
    const shipped = readdirSync(new URL('charts/stowage/crds/', root));
    expect(shipped.toSorted()).toEqual(definitions.map(([name]) => `${name}.yaml`).toSorted());
  });

  test('docs/policy-reference.md is what the schema says; `npm run docs` writes it', () => {
    expect(readFileSync(new URL('docs/policy-reference.md', root), 'utf8')).toBe(renderPolicyPage());
  });

  test('the texts read back as the definitions', () => {
    const documents = parseAllDocuments(crdsYaml(crdDescriptions)).map((document) => document.toJS());
    expect(documents).toEqual(JSON.parse(JSON.stringify(crdDescriptions.map(customResourceDefinition))));
  });
});

describe.each(definitions)('%s', (name, description) => {
  const definition = customResourceDefinition(description);
  const [version] = definition.spec.versions;
  const schemas = [...nested(version?.schema.openAPIV3Schema, '')];

  test('is named by plural and group, in one version that is served and stored', () => {
    expect(definition.metadata.name).toBe(name);
    expect(definition.spec.versions).toHaveLength(1);
    expect(version).toMatchObject({ served: true, storage: true, subresources: { status: {} } });
  });

  test('every schema has a type, or is int-or-string', () => {
    const untyped = schemas.filter(
      ([, { type, ...rest }]) => type === undefined && !rest['x-kubernetes-int-or-string'],
    );
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  test('every field of the spec says what it means', () => {
    const silent = schemas.filter(
      ([path, { description: text }]) =>
        path.startsWith('.spec') && !path.endsWith('[]') && !path.endsWith('.*') && !text,
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test('every key of a list map is required, or the API server refuses the definition', () => {
    for (const [path, schema] of schemas) {
      const keys = schema['x-kubernetes-list-map-keys'];
      if (!Array.isArray(keys)) continue;
      expect([path, { ...Object(schema['items']) }.required]).toEqual([path, expect.arrayContaining(keys)]);
    }
  });
});

test('OptimizationPolicy is the same in both groups', () => {
  const [first, second] = crdDescriptions
    .filter(({ kind }) => kind === 'OptimizationPolicy')
    .map((description) => customResourceDefinition(description).spec.versions);
  expect(first).toEqual(second);
});

describe('docs/policy-reference.md', () => {
  const page = renderPolicyPage();

  test('lists every field of the spec with its meaning', () => {
    for (const field of ['spec.mode', 'spec.metricsConfig.rollingWindow', 'spec.updateStrategy.schedule[].cron'])
      expect(page).toMatch(new RegExp(`^\\| \`${field.replace(/[.[\]]/g, '\\$&')}\` \\| .+ \\| .* \\| .+ \\|$`, 'm'));
  });

  test('tells types, defaults, choices, ranges and rules', () => {
    expect(page).toContain('| `spec.weight` | integer | `100` |');
    expect(page).toContain('From 1 to 1000.');
    expect(page).toContain('One of `Auto`, `Recommend`, `Disabled`.');
    expect(page).toContain('| `spec.resourceBounds.cpu.min` | quantity | required |');
    expect(page).toContain('Rule: CPU min must not be greater than max: valid is 0 < min <= max, such as ');
    expect(page).toContain('| `spec.selector.namespaces.allow` | list of string |');
    expect(page).toContain('| `spec.metricsConfig.prometheus.labels` | map of string |');
  });

  test('every row has as many cells as the head', () => {
    for (const row of page.split('\n').filter((line) => line.startsWith('|')))
      expect(row.replaceAll('\\|', '').match(/\|/g)).toHaveLength(5);
  });
});
