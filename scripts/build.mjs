/**
 * Bundles src/ and what it needs of node_modules into dist/: `npm run build`, and `npm ci` through `prepare`. The image runs it
 * (less memory and a faster start than from source), and Node 20, which cannot run TypeScript.
 * With --if-possible it does nothing, successfully, where the bundler or the source is not there (production installs).
 * With --out FOLDER it writes there instead.
 */
import { existsSync } from 'node:fs';
import { copyFile, cp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(root, 'src', 'main.ts');
const dataFiles = ['cluster/demo/shop.yaml'];
const dataFolders = ['simulator/scenarios'];

async function loadBundler() {
  try {
    return await import('esbuild');
  } catch {
    return undefined;
  }
}

/**
 * Node's own modules are taken as they are, name by name. An ES import would read every export of theirs once, and with them getters
 * that load what nobody here uses: web cryptography, promises of `fs`, the read-eval-print loop. A module without names would be
 * copied by the bundler, with a getter of its own for each of 2,000 exports.
 */
const builtinModules = {
  name: 'builtin-modules',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin-modules' } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin-modules' }, ({ path }) => ({
      contents: builtinModule(path),
      loader: 'js',
    }));
  },
};

function builtinModule(path) {
  const names = Object.keys(process.getBuiltinModule(path)).filter((name) => name !== 'default' && /^\w+$/.test(name));
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`,
    'const take = (name) => builtin[name];',
    // Pure: what nobody imports is left out.
    ...names.map((name) => `const builtin_${name} = /* @__PURE__ */ take(${JSON.stringify(name)});`),
    `export { builtin as default, ${names.map((name) => `builtin_${name} as ${name}`).join(', ')} };`,
  ].join('\n');
}

/**
 * What packages load and nothing here uses, left out for the memory it would take: spans of exemplars and summaries (prom-client),
 * workers that write logs (pino).
 */
const unusedModules = {
  name: 'unused-modules',
  setup(build) {
    const filter = /^(@opentelemetry\/api|tdigest|thread-stream)$/;
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'unused-modules' }));
    build.onLoad({ filter: /.*/, namespace: 'unused-modules' }, () => ({
      contents: 'module.exports = {};',
      loader: 'js',
    }));
  },
};

function outputFolder() {
  const position = process.argv.indexOf('--out');
  return position === -1 ? join(root, 'dist') : resolve(process.argv[position + 1] ?? '');
}

async function run() {
  const optional = process.argv.includes('--if-possible');
  const bundler = await loadBundler();
  if (bundler === undefined || !existsSync(entry)) {
    if (optional) return 0;
    process.stderr.write('build: esbuild or src/main.ts is missing. Run `npm install` in a full checkout first.\n');
    return 1;
  }
  const outdir = outputFolder();
  await rm(outdir, { recursive: true, force: true });
  await bundler.build({
    entryPoints: [entry],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Commands are imported when used, so one command does not load the code of the others.
    splitting: true,
    chunkNames: 'chunk-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // V8 keeps the text of what it runs: comments and layout would cost memory. Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [builtinModules, unusedModules],
    inject: [join(root, 'scripts', 'old-node-shims.mjs')],
    // Packages in CommonJS ask for Node's own modules by `require`, which ES modules have not.
    banner: {
      js: "import { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
    },
    sourcemap: true,
    logLevel: 'warning',
  });
  // Pages of the dashboard: what browsers load, one file of each kind.
  const pages = join(root, 'src', 'web', 'dashboard', 'client');
  await bundler.build({
    entryPoints: { app: join(pages, 'main.ts'), style: join(pages, 'style.css') },
    outdir: join(outdir, 'client'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    // That of the folder is for editors and `npm run types`.
    tsconfigRaw: {},
    logLevel: 'warning',
  });
  for (const file of ['index.html', 'icon.svg']) await copyFile(join(pages, file), join(outdir, 'client', file));
  // Read at run time, beside the code that reads it.
  for (const file of dataFiles) await copyFile(join(root, 'src', file), join(outdir, basename(file)));
  for (const folder of dataFolders)
    await cp(join(root, 'src', folder), join(outdir, basename(folder)), { recursive: true });
  return 0;
}

process.exitCode = await run();
