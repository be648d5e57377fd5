/** Writes the pages of docs/, the schema and the defaults of the chart's values, and the CustomResourceDefinitions, which come from tables in the source. With `--check` it writes nothing and exits 1 where one is out of date. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { renderAnnotationsPage } from '../src/api/annotations-page.ts';
import { crdFiles } from '../src/api/crd/crd-yaml.ts';
import { renderPolicyPage } from '../src/api/crd/policy-page.ts';
import { renderConfigPage } from '../src/config/config-page.ts';
import { renderMetricsPage } from '../src/lib/metrics-page.ts';
import { renderReasonsPage } from '../src/lib/reasons-page.ts';
import { renderDefaults } from './values-defaults.ts';
import { renderValuesSchema } from './values-schema.ts';

const root = new URL('../', import.meta.url);
const values = readOrEmpty(new URL('charts/stowage/values.yaml', root));
const pages: Readonly<Record<string, string>> = {
  'charts/stowage/templates/_defaults.tpl': renderDefaults(values),
  'charts/stowage/values.schema.json': renderValuesSchema(values),
  ...crdFiles(),
  'docs/annotations.md': renderAnnotationsPage(),
  'docs/configuration.md': renderConfigPage(),
  'docs/metrics.md': renderMetricsPage(),
  'docs/policy-reference.md': renderPolicyPage(),
  'docs/reasons.md': renderReasonsPage(),
};

const checkOnly = process.argv.includes('--check');
for (const [path, text] of Object.entries(pages)) {
  const url = new URL(path, root);
  if (readOrEmpty(url) === text) continue;
  if (checkOnly) {
    console.error(`${path} is out of date: run npm run docs`);
    process.exitCode = 1;
  } else {
    mkdirSync(new URL('.', url), { recursive: true });
    writeFileSync(url, text);
    console.log(`wrote ${path}`);
  }
}

function readOrEmpty(url: URL): string {
  try {
    return readFileSync(url, 'utf8');
  } catch {
    return '';
  }
}
