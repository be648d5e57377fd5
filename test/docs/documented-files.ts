/** The files that documented commands name, made in one folder. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseAllDocuments, parse as parseYaml, stringify } from 'yaml';
import type { KubeObject } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { policyType } from '../../src/api/optimization-policy.ts';
import { apiVersionOf, type ResourceType, resources } from '../../src/api/resources.ts';
import { allocationTypes } from '../../src/cli/allocation/allocation-input.ts';
import { formatProfilesFile } from '../../src/cli/profiles/profiles-file.ts';
import type { SavedUsage } from '../../src/model/saved-usage.ts';
import { randomScenario, SHORT_CHAOS } from '../../src/simulator/chaos/random-scenario.ts';
import { codeBlocks, root } from './pages.ts';

export interface FileSources {
  readonly folder: string;
  /** Of the cluster that dumps are made of. */
  readonly api: KubeApi;
  readonly usage: readonly SavedUsage[];
}

/** Folders of the checkout that documented commands begin with. */
export const checkoutFolders = ['config', 'test'] as const;
/** Two and a half days of a recording, in steps of five minutes. */
const RECORDED_LINES = 720;

/** As the operator logs what it has done. */
const journalRecord = {
  level: 'info',
  time: '2026-11-29T02:13:05.120Z',
  logger: 'journal',
  workload: 'Deployment/shop/web',
  engine: 'placement',
  kind: 'done',
  reason: 'EvictedForRebalance',
  pod: 'web-1',
  msg: 'Evicted pod web-1 from on-demand',
};

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Text of each file by its documented name. Those with another name stand for a file of one page, see `perPage` in commands.test.ts. */
export const files: Readonly<Record<string, (sources: FileSources) => Promise<string> | string>> = {
  'dump.json': ({ api }) => dumpOf(api),
  'allocation.yaml': async ({ api }) => stringify(parseYaml(await listOf(api, allocationTypes))),
  'config.yaml': () => 'operator: { readOnlyMode: true }\nplacement: { rounding: floor }\n',
  'optipod.yaml': () => {
    const [map] = parseAllDocuments(read('test/migration/optipod/configmap.yaml'));
    return JSON.stringify(map?.get('data'));
  },
  'spotalis.yaml': () => read('test/migration/spotalis/config.yaml'),
  'operator.log': () => `${JSON.stringify(journalRecord)}\n`,
  'values.yaml': () => read('charts/stowage/ci/default.yaml'),
  'policy.yaml': () =>
    codeBlocks(read('docs/rightsizing.md')).find((block) => block.includes('kind: OptimizationPolicy')) ?? '',
  'prices.yaml': () => read('config/prices-sample.yaml'),
  'usage.json': ({ usage }) => formatProfilesFile(usage),
  'my-shop.yaml': () => codeBlocks(read('docs/simulate.md')).find((block) => block.startsWith('name: my-shop')) ?? '',
  'before.yaml': () => scenario('before', 0),
  'after.yaml': () => scenario('after', 100),
  'chaos.yaml': () => stringify(randomScenario(42, SHORT_CHAOS)),
};

export const folders: Readonly<Record<string, (path: string) => void>> = {
  'manifests/': (path) => {
    mkdirSync(path);
    copyFileSync(join(root, 'test/fixtures/manifests/guestbook.yaml'), join(path, 'guestbook.yaml'));
  },
  'recordings/': (path) => {
    mkdirSync(path);
    const packed = readFileSync(join(root, 'test/fixtures/nab/ec2_cpu_utilization_24ae8d.csv.gz'));
    const lines = gunzipSync(packed).toString().split('\n').slice(0, RECORDED_LINES);
    writeFileSync(join(path, 'web.csv'), `${lines.join('\n')}\n`);
  },
};

export async function writeFiles(sources: FileSources): Promise<void> {
  const at = (name: string): string => join(sources.folder, name.replace(/\/$/, ''));
  for (const name of checkoutFolders) symlinkSync(join(root, name), at(name));
  for (const [name, make] of Object.entries(folders)) make(at(name));
  for (const [name, textOf] of Object.entries(files)) writeFileSync(at(name), await textOf(sources));
}

/** As `kubectl get … --all-namespaces -o json` prints the kinds that docs/cli.md names. */
export async function dumpOf(api: KubeApi): Promise<string> {
  const wanted = /^kubectl get (\S+) --all-namespaces -o json > dump\.json$/m
    .exec(read('docs/cli.md'))?.[1]
    ?.split(',');
  const byName = new Map(
    [...Object.values<ResourceType>(resources), policyType('optipod.io')].flatMap((type) =>
      [type.plural, shortNames[type.plural] ?? type.plural].map((name) => [name, type] as const),
    ),
  );
  const types = (wanted ?? []).map((name) => {
    const type = byName.get(name);
    if (type === undefined) throw new Error(`docs/cli.md dumps ${name}, which is no kind`);
    return type;
  });
  return await listOf(api, types);
}

const shortNames: Readonly<Record<string, string>> = {
  poddisruptionbudgets: 'pdb',
  persistentvolumeclaims: 'pvc',
  persistentvolumes: 'pv',
};

async function listOf(api: KubeApi, types: readonly ResourceType[]): Promise<string> {
  const items: KubeObject[] = [];
  for (const type of types) {
    const list = await api.list(type);
    // Items of a list come without their type; kubectl puts it in.
    items.push(...list.items.map((each) => ({ ...each, apiVersion: apiVersionOf(type), kind: type.kind })));
  }
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

const scenario = (name: string, spot: number): string => `name: ${name}
duration: 10m
pools:
  - { name: on-demand, class: on-demand }
  - { name: spot, class: spot, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, spot: ${spot}, replicas: 4 }
`;
