/** CustomResourceDefinitions as YAML documents: what `stowage crds` prints and the chart ships. */
import { stringify } from 'yaml';
import { type CrdDescription, customResourceDefinition } from './crd.ts';
import { crdDescriptions } from './crds.ts';

/** One document, without a separator. */
export function crdYaml(description: CrdDescription): string {
  return stringify(customResourceDefinition(description), { aliasDuplicateObjects: false, lineWidth: 120 });
}

/** Documents separated by `---`. */
export function crdsYaml(descriptions: readonly CrdDescription[]): string {
  return descriptions.map(crdYaml).join('---\n');
}

const NOTE = '# Written by `npm run docs` from the schemas in src/api; edit those.\n';

/** The files of the repository that hold definitions: paths from its root, with their texts. */
export function crdFiles(): Readonly<Record<string, string>> {
  const each = crdDescriptions.map((description) => [
    `charts/stowage/crds/${description.plural}.${description.group}.yaml`,
    NOTE + crdYaml(description),
  ]);
  return { ...Object.fromEntries(each), 'deploy/crds.yaml': NOTE + crdsYaml(crdDescriptions) };
}
