/** The node agent runs on every node: what it loads is kept small by listing it. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, type SourceImport } from './import-rules.ts';

const sourceRoot = resolve(import.meta.dirname, '../../src');
const toPath = (from: string, specifier: string): string =>
  relative(sourceRoot, resolve(sourceRoot, dirname(from), specifier))
    .split(sep)
    .join('/');

/** Loaded only when a kubeconfig is given, which a pod has no use for. */
const onlyOutsidePods = ['kube/auth/kubeconfig.ts'];

function importsIn(path: string): SourceImport[] {
  return importsOf(path, readFileSync(join(sourceRoot, path), 'utf8'), (specifier) => toPath(path, specifier)).filter(
    ({ typeOnly, to }) => !typeOnly && !(to !== undefined && onlyOutsidePods.includes(to)),
  );
}

/** @param isEager without what is loaded only where it is needed. */
function closureOf(entry: string, isEager = false): { readonly files: string[]; readonly packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const { to, specifier, isDeferred } of importsIn(path)) {
      if (isEager && isDeferred) continue;
      if (to !== undefined) visit(to);
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
  };
  visit(entry);
  return { files: [...files].sort(), packages: [...packages] };
}

const agent = closureOf('agent/agent-process.ts');

test('the agent loads no package at all', () => {
  expect(agent.packages).toEqual([]);
});

test('and nothing of the operator: only these folders, and of two of them only these files', () => {
  const folders = new Set(agent.files.map((path) => path.split('/')[0]));
  expect(folders).toEqual(new Set(['agent', 'api', 'decide', 'kube', 'lib', 'model', 'observe', 'web']));
  expect(agent.files.filter((path) => path.startsWith('web/'))).toEqual(['web/endpoint-server.ts']);
  const observed = agent.files.filter((path) => path.startsWith('observe/'));
  expect(
    observed.filter(
      (path) =>
        !/^observe\/(?:fields|intern|project-[a-z-]+|sizing\/(?:project-[a-z-]+|compact-pod-sizing|own-cpu|resource-managers|sizing-interners))\.ts$/.test(
          path,
        ),
    ),
  ).toEqual([]);
  expect(agent.files.filter((path) => path.startsWith('decide/') && !path.startsWith('decide/allocation/'))).toEqual(
    [],
  );
  expect(agent.files.filter((path) => path.includes('schema') || path.startsWith('api/crd/'))).toEqual([]);
});

test('the program itself loads no command before it knows which one', () => {
  const started = importsIn('main.ts').filter(({ specifier }) => specifier.startsWith('.'));
  const eager = readFileSync(join(sourceRoot, 'main.ts'), 'utf8').match(/^import (?!type )[^;]*from '\.[^']*'/gm) ?? [];
  expect(eager.every((line) => line.includes("'./lib/"))).toBe(true);
  expect(started.map(({ to }) => to)).toContain('agent/agent-process.ts');
});

test('the command line has its options and help without what commands work with', () => {
  expect(closureOf('cli/program.ts', true).packages.toSorted()).toEqual(['commander', 'yaml']);
});

test('a package is noticed', () => {
  expect(closureOf('lib/log.ts').packages).toEqual(['pino']);
  expect(closureOf('config/config-key.ts', true).packages).toEqual(['zod']);
});
