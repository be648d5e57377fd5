/** Reads folders of this machine as entries of an archive. */
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { TarEntry } from './tar.ts';

/** A file under another path; links are followed. */
export function fileEntry(source: string, path: string, mode = 0o644): TarEntry {
  return { path, content: readFileSync(realpathSync(source)), mode };
}

/** Every file below `source`, under `path`; links to files are followed, those to folders left out. */
export function folderEntries(
  source: string,
  path: string,
  accepts: (relative: string) => boolean = () => true,
): TarEntry[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter(accepts)
    .flatMap((name) => {
      const file = join(source, name);
      const kind = lstatSync(file);
      if (kind.isDirectory() || (kind.isSymbolicLink() && !lstatSync(realpathSync(file)).isFile())) return [];
      // Only whether a file can be run matters; the umask of a checkout must not change the digest.
      return [fileEntry(file, `${path}/${name}`, (kind.mode & 0o111) === 0 ? 0o644 : 0o755)];
    });
}
