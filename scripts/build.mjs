/**
 * Compiles src/ to dist/ for Node 20, which cannot run TypeScript: `npm run build`, and `npm ci` through `prepare`.
 * With --if-possible it does nothing, successfully, where the bundler or the source is not there (production installs).
 */
import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(root, 'src', 'main.ts');
const dataFiles = ['cluster/demo/shop.yaml'];

async function loadBundler() {
  try {
    return await import('esbuild');
  } catch {
    return undefined;
  }
}

async function run() {
  const optional = process.argv.includes('--if-possible');
  const bundler = await loadBundler();
  if (bundler === undefined || !existsSync(entry)) {
    if (optional) return 0;
    process.stderr.write('build: esbuild or src/main.ts is missing. Run `npm install` in a full checkout first.\n');
    return 1;
  }
  await rm(join(root, 'dist'), { recursive: true, force: true });
  await bundler.build({
    entryPoints: [entry],
    outdir: join(root, 'dist'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Commands are imported when used, so one command does not load the code of the others.
    splitting: true,
    chunkNames: 'chunk-[hash]',
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    inject: [join(root, 'scripts', 'old-node-shims.mjs')],
    sourcemap: true,
    logLevel: 'warning',
  });
  // Read at run time, beside the code that reads it.
  for (const file of dataFiles) await copyFile(join(root, 'src', file), join(root, 'dist', basename(file)));
  return 0;
}

process.exitCode = await run();
