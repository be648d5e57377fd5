/** Which folder of src may import which: the one-way flow observe -> model -> decide -> guard -> act, as data. */

export interface ImportRule {
  /** Folders this one may import besides itself; `lib` and `api` are open to all but each other's exceptions. */
  readonly may: readonly string[];
  /** Folders of which only types may be imported. */
  readonly typesOnly?: readonly string[];
}

const everything = [
  'config',
  'kube',
  'observe',
  'model',
  'decide',
  'guard',
  'act',
  'controllers',
  'webhook',
  'operator',
  'agent',
  'lab',
  'cluster',
  'simulator',
  'cli',
  'web',
];

/** Keys are the first folder below src; `main.ts` and `wire.ts` are places of their own. */
export const importRules: Readonly<Record<string, ImportRule>> = {
  lib: { may: [] },
  api: { may: ['lib'] },
  config: { may: ['lib', 'api'] },
  kube: { may: ['lib', 'api'] },
  model: { may: ['lib', 'api'] },
  observe: { may: ['lib', 'api', 'kube', 'model'] },
  decide: { may: ['lib', 'api', 'model'] },
  guard: { may: ['lib', 'api', 'model'], typesOnly: ['decide'] },
  act: { may: ['lib', 'api', 'kube', 'model', 'guard'], typesOnly: ['decide'] },
  controllers: { may: ['lib', 'api', 'kube', 'observe', 'model', 'decide', 'guard', 'act'] },
  webhook: { may: ['lib', 'api', 'kube', 'observe', 'model', 'decide'] },
  // What it may not grow into by this is kept by agent-closure.test.ts.
  agent: { may: ['lib', 'api', 'kube', 'model', 'observe', 'decide', 'web'] },
  // Parts of the wiring that grew too large for wire.ts.
  operator: { may: ['lib', 'api', ...everything] },
  // The stand-ins are API clients; informers come from kube (adr/0005). Never an engine.
  cluster: { may: ['lib', 'api', 'model', 'kube'] },
  // The CPU-sharing experiment: it reads control groups as the agent does and plans as the agent plans.
  lab: { may: ['lib', 'api', 'model', 'decide', 'agent'] },
  simulator: { may: ['lib', 'api', ...everything] },
  cli: { may: ['lib', 'api', ...everything] },
  web: { may: ['lib', 'api', ...everything] },
  'wire.ts': { may: ['lib', 'api', 'operator', ...everything] },
  'main.ts': { may: ['lib', 'api', 'wire.ts', 'operator', ...everything] },
};

export interface SourceImport {
  /** Path of the importing file, relative to src, with forward slashes. */
  readonly from: string;
  /** Path of the imported file, relative to src; undefined for a package or a Node module. */
  readonly to: string | undefined;
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** `import()`: loaded only where it is needed. */
  readonly isDeferred: boolean;
}

const placeOf = (path: string): string => path.split('/')[0] ?? path;

/** One sentence per broken rule; empty when the import is allowed. */
export function violation(found: SourceImport): string | undefined {
  if (found.to === undefined) return undefined;
  const from = placeOf(found.from);
  const to = placeOf(found.to);
  if (from === to) return undefined;
  const rule = importRules[from];
  if (rule === undefined) return `src/${found.from}: the folder ${from} has no line in test/structure/import-rules.ts`;
  if (rule.may.includes(to)) return undefined;
  if (rule.typesOnly?.includes(to)) {
    return found.typeOnly ? undefined : `src/${found.from} imports values from ${to}; only types are allowed there`;
  }
  return `src/${found.from} imports ${found.specifier}: ${from} may not import ${to}`;
}

/** Reads the static and dynamic imports of one TypeScript source text. `resolve` turns a relative specifier into a path. */
export function importsOf(from: string, source: string, resolve: (specifier: string) => string): SourceImport[] {
  const withoutComments = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
  const found: SourceImport[] = [];
  const add = (specifier: string, typeOnly: boolean, isDeferred = false): void => {
    const to = specifier.startsWith('.') ? resolve(specifier) : undefined;
    found.push({ from, specifier, typeOnly, isDeferred, to });
  };
  for (const match of withoutComments.matchAll(
    /\b(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]/g,
  )) {
    add(match[2] ?? '', match[1] !== undefined);
  }
  for (const match of withoutComments.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) add(match[1] ?? '', false, true);
  return found;
}

/** Files on an import cycle, as `a -> b -> a`; type-only imports are erased and do not count. */
export function findCycle(imports: readonly SourceImport[]): string | undefined {
  const edges = new Map<string, string[]>();
  for (const found of imports) {
    if (found.to === undefined || found.typeOnly) continue;
    edges.set(found.from, [...(edges.get(found.from) ?? []), found.to]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string | undefined => {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file].join(' -> ');
    if (done.has(file)) return undefined;
    path.push(file);
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of edges.keys()) {
    const cycle = visit(file);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
