/** Manifests of one path given on the command line. */
import { type Manifests, parseManifests, readManifests } from '../../api/manifests.ts';
import type { CliIo } from '../cli-context.ts';

/** @param path a file, a directory, or `-` for standard input. What cannot be read is a problem of the result. */
export async function readPath(path: string, io: CliIo): Promise<Manifests> {
  return path === '-' ? parseManifests(await io.readStdin(), 'standard input') : await readManifests([path]);
}
