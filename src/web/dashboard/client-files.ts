/**
 * The files of the dashboard's pages. In a build they are bundled (scripts/build.mjs); from source each module is
 * served as it is, but for its types.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { EndpointAnswer } from '../endpoint-server.ts';

/** In dist/ the folder lies beside the bundle, as it lies here beside this file. */
const folder = new URL('./client/', import.meta.url);

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  ts: 'text/javascript; charset=utf-8',
};

/**
 * What the pages share with the rest of src/lib, in a build part of their bundle. A browser asks for `/lib/` of it: it
 * goes up no further.
 */
const shared = ['ascending.ts', 'is-record.ts', 'svg-path.ts', 'try-parse-json.ts'] as const;

/** The path of a file relative to the pages' folder, by the path it is served under. */
export function listClientFiles(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.test.ts') && extensionOf(name) in contentTypes);
  const isSource = names.includes('main.ts');
  return new Map([
    ...names.map((name): [string, string] => [`/${name}`, name]),
    ['/', 'index.html'],
    ...(isSource ? shared.map((name): [string, string] => [`/lib/${name}`, `../../../lib/${name}`]) : []),
    ...(isSource ? [['/app.js', 'main.ts'] as const] : []),
  ]);
}

/**
 * @param name as listed: whatever a browser asks for is looked up there first.
 * @throws of the file system, for a file that is gone since.
 */
export function readClientFile(name: string): EndpointAnswer {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const extension = extensionOf(name);
  const body = extension === 'ts' ? withoutTypes(text) : text;
  return { status: 200, contentType: contentTypes[extension] ?? 'application/octet-stream', body };
}

/** Only a Node that runs this source has such files to serve; no other module needs to be in memory for it. */
function withoutTypes(text: string): string {
  const { stripTypeScriptTypes } = process.getBuiltinModule('node:module');
  const { emitWarning } = process;
  // That this is experimental is told on the terminal, in the middle of what the demo shows there; it runs with the Node it was tested with.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
