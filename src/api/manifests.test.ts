import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseManifests, readManifests, sortForApply } from './manifests.ts';

const names = (text: string): string[] =>
  parseManifests(text, 'f.yaml').objects.map(({ kind, metadata }) => `${kind}/${metadata?.name}`);
const problems = (text: string): readonly string[] => parseManifests(text, 'f.yaml').problems;

const json = (name: string): string => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });
const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`;

describe('parseManifests', () => {
  test.each([
    ['one document', pod('a'), ['Pod/a']],
    [
      'several documents, empty ones skipped',
      `---\n${pod('a')}---\n---\n# nothing\n---\n${pod('b')}`,
      ['Pod/a', 'Pod/b'],
    ],
    ['a List', `apiVersion: v1\nkind: List\nitems:\n- ${pod('a').trim().replaceAll('\n', '\n  ')}\n`, ['Pod/a']],
    [
      'a typed list whose items name no kind',
      'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n',
      ['Pod/a'],
    ],
    ['JSON', JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }), ['Pod/a']],
    [
      'a list inside a List',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: NodeList, items: [{metadata: {name: n}}]}\n',
      ['Node/n'],
    ],
    ['JSON values one after the other, a line each', `${json('a')}\n${json('b')}\n`, ['Pod/a', 'Pod/b']],
    [
      'lists of JSON one after the other, as several commands append them',
      `{\n  "items": [${json('a')}],\n  "apiVersion": "v1",\n  "kind": "List"\n}\n{\n  "items": [],\n  "apiVersion": "v1",\n  "kind": "List"\n}\n`,
      ['Pod/a'],
    ],
    [
      'JSON and flow style with a mark in between',
      `${json('a')}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}`,
      ['Pod/a', 'Pod/b'],
    ],
    ['flow style that is not JSON', '{apiVersion: v1, kind: Pod, metadata: {name: a}}', ['Pod/a']],
    ['a byte order mark', `\ufeff${pod('a')}`, ['Pod/a']],
    ['an empty list', 'apiVersion: v1\nkind: List\nitems: []\n', []],
    [
      'a kind that ends in List but is none',
      'apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\n',
      ['AllowList/a'],
    ],
    ['generateName', 'apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n', ['Pod/undefined']],
    ['nothing', '', []],
  ])('reads %s', (_, text, expected) => {
    expect(problems(text)).toEqual([]);
    expect(names(text)).toEqual(expected);
  });

  test('takes the type of a typed list over to its items', () => {
    const { objects } = parseManifests(
      'apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n',
      'f',
    );
    expect(objects[0]).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' });
  });

  test.each([
    ['a missing kind', 'apiVersion: v1\nmetadata: {name: a}', /^f\.yaml: "kind" is missing/],
    ['a missing apiVersion', 'kind: Pod\nmetadata: {name: a}', /^f\.yaml: "apiVersion" is missing/],
    ['a missing name', 'apiVersion: v1\nkind: Pod', /^f\.yaml: this Pod has no metadata\.name/],
    ['a table', 'NAME READY STATUS\nweb-1 1/1 Running', /-o yaml/],
    ['a bare list', '- a\n- b', /found a list/],
    ['broken YAML', 'a: [1, 2', /^f\.yaml: not valid YAML: /],
    ['YAML that is cut off', 'items:\n- kind: Pod\n  metad', /^f\.yaml: not valid YAML: .* cut off: write it again$/],
    [
      'JSON that is cut off',
      '{"items":[\n{"kind":"Pod",\n"metad',
      /^f\.yaml: not valid JSON; .* cut off: write it again$/,
    ],
    [
      'flow style that is cut off',
      '{items: [\n{kind: Pod,\nmetad',
      /^f\.yaml: not valid YAML: .* cut off: write it again$/,
    ],
    [
      'the JSON value that is cut off',
      `${json('a')}\n{"kind":"Pod","metad`,
      /^f\.yaml, document 2: not valid JSON; .* cut off: write it again$/,
    ],
    ['the JSON value at fault', `${json('a')}\n{"kind":Pod}\n${json('b')}`, /^f\.yaml, document 2: not valid JSON$/],
    ['a mistake further up', 'a: [1, 2\nb: 1\nc: 2\n', /^f\.yaml: not valid YAML: (?!.*cut off)/],
    [
      'a list cut off between two lines',
      'apiVersion: v1\nitems:\n- kind: Pod\n',
      /^f\.yaml: "kind" is missing; .* cut off/,
    ],
    [
      'the document at fault',
      `${pod('a')}---\n5\n`,
      /^f\.yaml, document 2: expected a Kubernetes object, found a number/,
    ],
    [
      'the item at fault',
      'apiVersion: v1\nkind: List\nitems: [{kind: Pod}]',
      /^f\.yaml, item 1: "apiVersion" is missing/,
    ],
  ])('names %s', (_, text, expected) => {
    const found = problems(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  test('goes on after a problem', () => {
    expect(names(`${pod('a')}---\nkind: [\n---\n${pod('b')}`)).toContain('Pod/a');
  });

  test('refuses a bomb of aliases instead of building it', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]`;
    expect(problems(bomb)[0]).toMatch(/not valid YAML/);
  });

  test('refuses what holds itself, and goes on after it', () => {
    const endless = ['&x\napiVersion: v1\nkind: List\nitems: [*x]\n', `${pod('b')}spec: &x\n  containers: [*x]\n`];
    for (const text of endless) {
      expect(problems(`${text}---\n${pod('a')}`)).toEqual([
        expect.stringMatching(/^f\.yaml, document 1: not valid YAML: /),
      ]);
      expect(names(`${text}---\n${pod('a')}`)).toEqual(['Pod/a']);
    }
  });

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { objects } = parseManifests(text, 'f');
        expect(Array.isArray(objects)).toBe(true);
      }),
    );
  });
});

describe('sortForApply', () => {
  test('puts namespaces and definitions first and keeps the order of the rest', () => {
    const kinds = ['Deployment', 'Pod', 'CustomResourceDefinition', 'Namespace', 'Deployment', 'ConfigMap'];
    const objects = kinds.map((kind, index) => ({ kind, metadata: { name: String(index) } }));
    const sorted = sortForApply(objects).map(({ kind, metadata }) => `${kind}/${metadata?.name}`);
    expect(sorted).toEqual([
      'Namespace/3',
      'CustomResourceDefinition/2',
      'ConfigMap/5',
      'Deployment/0',
      'Pod/1',
      'Deployment/4',
    ]);
  });
});

describe('readManifests', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stowage-manifests-'));
    await mkdir(join(folder, 'sub'));
    await mkdir(join(folder, 'empty'));
    await writeFile(join(folder, 'b.yaml'), pod('b'));
    await writeFile(join(folder, 'a.yml'), pod('a'));
    await writeFile(join(folder, 'sub', 'c.json'), '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"c"}}');
    await writeFile(join(folder, 'notes.txt'), 'not a manifest');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('reads folders recursively, in order of names, and sorts for applying', async () => {
    const { objects, problems: found } = await readManifests([folder]);
    expect(found).toEqual([]);
    expect(objects.map(({ metadata }) => metadata?.name)).toEqual(['c', 'a', 'b']);
  });

  test('reads files that are linked into a folder, each once, and says where a link leads nowhere', async () => {
    const mount = join(folder, '..', `${basename(folder)}-mount`);
    await mkdir(join(mount, '..2026'), { recursive: true });
    onTestFinished(() => rm(mount, { recursive: true }));
    await writeFile(join(mount, '..2026', 'kept.yaml'), pod('kept'));
    await symlink('..2026', join(mount, '..data'));
    await symlink('..data/kept.yaml', join(mount, 'kept.yaml'));
    await symlink(join(folder, 'a.yml'), join(mount, 'linked.yaml'));
    await symlink('nowhere', join(mount, 'lost.yaml'));
    const { objects, problems: found } = await readManifests([mount]);
    expect(objects.map(({ metadata }) => metadata?.name)).toEqual(['kept', 'a']);
    expect(found).toEqual([`${join(mount, 'lost.yaml')}: there is no such file.`]);
  });

  test('reads what PowerShell has written', async () => {
    const file = join(folder, 'empty', 'powershell.yaml');
    onTestFinished(() => rm(file));
    await writeFile(file, Buffer.from(`\ufeff${pod('a').replaceAll('\n', '\r\n')}`, 'utf16le'));
    const { objects, problems: found } = await readManifests([file]);
    expect({ names: objects.map(({ metadata }) => metadata?.name), found }).toEqual({ names: ['a'], found: [] });
  });

  test('reads a dump of more objects than a call takes arguments', async () => {
    const file = join(folder, 'empty', 'dump.json');
    onTestFinished(() => rm(file));
    const items = Array.from({ length: 150_000 }, (_, index) => json(`p${index}`)).join();
    await writeFile(file, `{"apiVersion":"v1","kind":"List","items":[${items}]}`);
    const { objects, problems: found } = await readManifests([file]);
    expect({ count: objects.length, found }).toEqual({ count: 150_000, found: [] });
  });

  test('reads a single file whatever its extension', async () => {
    const { problems: found } = await readManifests([join(folder, 'notes.txt')]);
    expect(found[0]).toMatch(/notes\.txt: expected a Kubernetes object/);
  });

  test('says what is wrong with a path and goes on', async () => {
    const { objects, problems: found } = await readManifests([
      join(folder, 'nope'),
      join(folder, 'empty'),
      join(folder, 'a.yml'),
    ]);
    expect(objects).toHaveLength(1);
    expect(found).toEqual([
      `${join(folder, 'nope')}: there is no such file or folder.`,
      `${join(folder, 'empty')}: the folder holds no .yaml, .yml or .json file.`,
    ]);
  });
});
