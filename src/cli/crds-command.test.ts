import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crdsYaml } from '../api/crd/crd-yaml.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { APPLY_DEFINITIONS } from '../api/pruned-field.ts';
import { runCommand } from './testing/run-command.ts';

const namesIn = (text: string): unknown[] =>
  parseAllDocuments(text).map((document) => document.getIn(['metadata', 'name']));

describe('stowage crds', () => {
  test('prints every definition as a YAML document', async () => {
    const { code, stdout, stderr } = await runCommand(['crds']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(crdsYaml(crdDescriptions));
    expect(namesIn(stdout)).toEqual(crdDescriptions.map(({ plural, group }) => `${plural}.${group}`));
  });

  test('--group prints those of the groups named', async () => {
    const one = await runCommand(['crds', '--group', 'optipod.io']);
    expect(namesIn(one.stdout)).toEqual(['optimizationpolicies.optipod.io']);
    const two = await runCommand(['crds', '--group', 'optipod.optipod.io', '--group', 'optipod.io']);
    expect(namesIn(two.stdout)).toEqual(['optimizationpolicies.optipod.io', 'optimizationpolicies.optipod.optipod.io']);
  });

  test('-o json prints a List that kubectl applies', async () => {
    const { stdout } = await runCommand(['crds', '-o', 'json', '--group', 'optipod.io']);
    expect(JSON.parse(stdout)).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ kind: 'CustomResourceDefinition', spec: { group: 'optipod.io' } }],
    });
  });

  test('its help takes the definitions over from whoever installed them', async () => {
    const { stdout } = await runCommand(['crds', '--help']);
    expect(stdout).toContain(APPLY_DEFINITIONS);
  });

  test('a group that does not exist is a wrong use, and those that do are named', async () => {
    const { code, stdout, stderr } = await runCommand(['crds', '--group', 'optipod']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('there is no group "optipod"; accepted: optipod.io, optipod.optipod.io');
  });
});
