/** What runs in production beside our own code: few packages, pinned, under licences that ask for no more than to be named. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './numbered.ts';

interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { dependencies, optionalDependencies }: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  read('package.json'),
);
const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(read('package-lock.json'));
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
const production = packages.filter(([, { dev }]) => dev !== true);

const permissive: ReadonlySet<string | undefined> = new Set(['MIT', 'ISC', '0BSD', 'BSD-3-Clause', 'Apache-2.0']);
const namesOf = (
  among: readonly (readonly [string, LockedPackage])[],
  isWrong: (each: LockedPackage) => boolean,
): string[] => among.filter(([, each]) => isWrong(each)).map(([path]) => path);

test('each package that runs in production has a permissive licence', () => {
  const isOther = ({ license }: LockedPackage): boolean => !permissive.has(license);
  expect(production.length).toBeGreaterThan(20);
  expect(namesOf(production, isOther)).toEqual([]);
  expect(namesOf([['a', { version: '1.0.0', license: 'GPL-3.0-only' }]], isOther)).toEqual(['a']);
  expect(namesOf([['b', { version: '1.0.0' }]], isOther)).toEqual(['b']);
});

test('direct ones are as few as docs/security.md says, each of one version', () => {
  const versions = Object.entries({ ...dependencies, ...optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  expect(Object.keys(dependencies ?? {})).toHaveLength(8);
  expect(read('docs/security.md')).toContain('eight direct dependencies');
});

test('what is installed is what was locked: each package, tools among them, has the hash of its content', () => {
  expect(namesOf(packages, ({ integrity = '' }) => !integrity.startsWith('sha512-'))).toEqual([]);
});

test('no script of a package runs: none of production has one, and the image is built without those of tools', () => {
  expect(namesOf(production, ({ hasInstallScript }) => hasInstallScript === true)).toEqual([]);
  const installs = read('Dockerfile').match(/npm (?:ci|install)\b.*/g);
  expect(installs).toEqual(['npm ci --ignore-scripts']);
});
