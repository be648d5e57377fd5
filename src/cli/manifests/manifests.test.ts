import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../testing/run-command.ts';
import { chartFolder, profileNames } from './profiles.ts';

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
const objectsIn = (text: string): Printed[] => parseAllDocuments(text).map((document) => document.toJS());
const kindsIn = (text: string): string[] => objectsIn(text).map(({ kind }) => kind);

describe('a profile', () => {
  test('is placement when none is named, and comes with its namespace first', async () => {
    const { code, stdout, stderr } = await runCommand(['manifests']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe((await runCommand(['manifests', 'placement'])).stdout);
    expect(kindsIn(stdout)[0]).toBe('Namespace');
    expect(kindsIn(stdout)).toEqual(
      expect.arrayContaining(['Deployment', 'ClusterRole', 'MutatingWebhookConfiguration']),
    );
    expect(kindsIn(stdout)).not.toContain('CustomResourceDefinition');
  });

  test.each([
    ['rightsizing', 2],
    ['allocation', 1],
    ['all', 3],
  ])('%s brings the definitions of its kinds, before anything else', async (profile, definitions) => {
    const kinds = kindsIn((await runCommand(['manifests', profile])).stdout);
    expect(kinds.slice(0, definitions + 1)).toEqual([
      ...Array.from({ length: definitions }, () => 'CustomResourceDefinition'),
      'Namespace',
    ]);
    expect(kinds.filter((kind) => kind === 'CustomResourceDefinition')).toHaveLength(definitions);
  });

  test.each(profileNames)('%s goes as a whole into the namespace asked for', async (profile) => {
    const { stdout } = await runCommand(['manifests', profile, '-n', 'platform']);
    expect(stdout).not.toContain('spotalis-system');
    const namespaces = objectsIn(stdout).flatMap(({ metadata }) => metadata.namespace ?? []);
    expect(new Set(namespaces)).toEqual(new Set(['platform']));
    if (stdout.includes('path: /mutate'))
      expect(stdout).toMatch(/operator: NotIn\n +values:\n +- platform\n +- kube-system\n/);
  });

  test.each(['20481', '1e3', 'on', 'null'])('a namespace called %s is text wherever it stands', async (namespace) => {
    const { stdout } = await runCommand(['manifests', 'all', '-n', namespace]);
    expect(stdout).not.toMatch(new RegExp(`[:-] ${namespace}$`, 'm'));
    const names = objectsIn(stdout).flatMap(({ metadata }) => metadata.namespace ?? []);
    expect(new Set(names)).toEqual(new Set([namespace]));
    // Misspelt, the policy would hold nobody to anything.
    expect(stdout).toContain(`== 'system:serviceaccount:${namespace}:stowage-agent'\n`);
  });

  test.each(profileNames)(
    '%s --to-delete leaves out what holds more than the installation, and nothing else',
    async (profile) => {
      const all = objectsIn((await runCommand(['manifests', profile, '-n', 'platform'])).stdout);
      const { stdout } = await runCommand(['manifests', profile, '-n', 'platform', '--to-delete']);
      const kept = all.filter(({ kind }) => kind !== 'Namespace' && kind !== 'CustomResourceDefinition');
      expect(kept.length).toBeGreaterThan(10);
      expect(objectsIn(stdout)).toEqual(kept);
    },
  );

  test('takes another image', async () => {
    const { stdout } = await runCommand(['manifests', 'all', '--image', 'registry.example.com:5000/a/stowage:2']);
    const images = [...stdout.matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set(['registry.example.com:5000/a/stowage:2']));
  });

  test('is a List with -o json', async () => {
    const yaml = objectsIn((await runCommand(['manifests'])).stdout);
    const list = JSON.parse((await runCommand(['manifests', '-o', 'json'])).stdout);
    expect(list).toEqual({ apiVersion: 'v1', kind: 'List', items: yaml });
  });

  test.each([
    [['manifests', 'placemnt'], 'Allowed choices are placement, rightsizing, allocation, all'],
    [['manifests', '--image', 'x y'], '--image is not an image: "x y"'],
    [['manifests', 'all', '--values', 'v.yaml'], 'give a profile or --values, not both'],
  ])('%j is a wrong use', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('--values', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-manifests-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  /** A helm that notes what it was asked for. */
  const withHelm = (script: string) => {
    writeFileSync(join(folder, 'helm'), `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/asked"\n${script}\n`);
    chmodSync(join(folder, 'helm'), 0o755);
    return { env: { PATH: [folder, '/usr/bin', '/bin'].join(delimiter) } };
  };

  test('has helm render the chart that came with this version', async () => {
    const setting = withHelm("printf 'kind: ConfigMap\\n'");
    const { code, stdout } = await runCommand(['manifests', '--values', 'v.yaml', '-n', 'platform'], setting);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'kind: ConfigMap\n' });
    const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
    expect(asked).toEqual(
      ['template', 'stowage', chartFolder, '--namespace', 'platform', '--include-crds', '--skip-tests'].concat(
        '--values',
        'v.yaml',
      ),
    );
    expect(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')).toContain('name: stowage');
  });

  test('--to-delete leaves the definitions of kinds in what helm rendered', async () => {
    const setting = withHelm(
      "printf -- '---\\n# Source: a\\nkind: CustomResourceDefinition\\n---\\nkind: ConfigMap\\n'",
    );
    const { stdout } = await runCommand(['manifests', '--values', 'v.yaml', '--to-delete'], setting);
    expect(objectsIn(stdout)).toEqual([{ kind: 'ConfigMap' }]);
  });

  test('passes on what helm refuses', async () => {
    const setting = withHelm('echo "Error: additional properties \'x\' not allowed" >&2; exit 1');
    const { code, stdout, stderr } = await runCommand(['manifests', '--values', 'v.yaml'], setting);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe("stowage: helm: additional properties 'x' not allowed\n");
  });

  test('says what to do where there is no helm', async () => {
    const { code, stderr } = await runCommand(['manifests', '--values', 'v.yaml'], { env: { PATH: folder } });
    expect(code).toBe(1);
    expect(stderr).toContain('--values needs helm 3.8 or newer on the PATH. Without helm, print a profile');
  });
});
