/** Every numbered defect of OptiPod as shipped is a named test; those about the repository as a whole are here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { root } from './numbered.ts';
import { testFiles } from './tagged-tests.ts';

const DEFECTS = [...Array.from({ length: 23 }, (_, index) => `B${index + 1}`), 'B9a'];

describe('the numbered defects', () => {
  test('each is a named test, and none is made up', () => {
    const sources = [...testFiles(root, 'src').values(), ...testFiles(root, 'test').values()];
    const titles = sources.flatMap((source) => [...source.matchAll(/['"`]([^'"`:\n]*\boptipod defect B[^:\n]*):/g)]);
    const named = titles.flatMap(([, title = '']) =>
      [...title.matchAll(/optipod defect (B\d+a?)/g)].map(([, number = '']) => number),
    );
    expect([...new Set(named)].toSorted()).toEqual(DEFECTS.toSorted());
  });
});

describe('standard output', () => {
  test('optipod defect B19: nothing but the process and its commands writes to it, and nothing to the console', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/testing/'),
    );
    const writes = files.filter((path) => {
      const source = readFileSync(join(root, 'src', path), 'utf8');
      return /\bconsole\.\w+\(|process\.std(?:out|err)\b/.test(source);
    });
    expect(files.length).toBeGreaterThan(100);
    expect(writes).toEqual(['main.ts']);
  });
});

interface Manifest {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } };
    readonly ingress?: readonly { readonly ports?: readonly { readonly port: unknown }[] }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly { readonly resources?: readonly string[]; readonly verbs: readonly string[] }[];
}
interface Container {
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
}

describe('what is installed', () => {
  const text = readFileSync(join(root, 'deploy/profiles/rightsizing.yaml'), 'utf8');
  const manifests = parseAllDocuments(text).map((document): Manifest => document.toJS() ?? {});
  const named = (kind: string) =>
    manifests.find((each) => each.kind === kind && each.metadata?.name?.startsWith('stowage') === true);
  const [container] = named('Deployment')?.spec?.template?.spec.containers ?? [];
  const config = manifests.find(({ metadata }) => metadata?.name === 'stowage-config')?.data?.['config.yaml'] ?? '';
  const { observability } = loadConfig({ text: config, fileName: 'config.yaml', env: {} }).config;

  test('optipod defect B20: the port of metrics is one and the same in configuration, container, Service and policy', () => {
    const { port } = observability.metrics.bindAddress;
    const inContainer = container?.ports?.find(({ name }) => name === 'metrics')?.containerPort;
    const inService = named('Service')?.spec?.ports?.find(({ name }) => name === 'metrics');
    expect([port, inContainer, inService?.port]).toEqual([8080, 8080, 8080]);
    expect(inService?.targetPort).toBe('metrics');
    const admitted = named('NetworkPolicy')?.spec?.ingress?.flatMap(({ ports = [] }) => ports.map((each) => each.port));
    expect(admitted).toContain('metrics');
  });

  test('optipod defect B20: no argument is given twice, and pods may be resized', () => {
    const flags = (container?.args ?? []).map((arg) => arg.split('=')[0]);
    expect(new Set(flags).size).toBe(flags.length);
    const granted = manifests
      .flatMap(({ rules = [] }) => rules)
      .filter(({ resources }) => resources?.includes('pods/resize'));
    expect(granted.some(({ verbs }) => verbs.includes('patch'))).toBe(true);
  });
});
