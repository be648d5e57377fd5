/** Writes POSIX tar archives that are equal byte for byte when their content is: no times, no owners, no machine. */
import { Buffer } from 'node:buffer';

export interface TarEntry {
  /** Path without leading slash; folders end with one. */
  readonly path: string;
  readonly content: Buffer;
  /** Permission bits. */
  readonly mode: number;
}

const BLOCK = 512;
const MAX_NAME = 100;
const MAX_PREFIX = 155;

/** Splits a long path as ustar wants it: `prefix` up to 155 bytes, `name` up to 100, cut at a slash. */
function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= MAX_NAME) return { name: path, prefix: '' };
  for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1)) {
    const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
    if (name !== '' && Buffer.byteLength(name) <= MAX_NAME && Buffer.byteLength(prefix) <= MAX_PREFIX)
      return { name, prefix };
  }
  throw new Error(`the path ${path} is too long for an archive: shorten it to ${MAX_PREFIX + MAX_NAME} bytes`);
}

function header({ path, content, mode }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(path);
  const octal = (value: number, offset: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), offset, 'latin1');
  };
  block.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8); // owner and group: root
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12); // modification time
  block.write(path.endsWith('/') ? '5' : '0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  block.write(prefix, 345);
  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Folders that lead to an entry, outermost first. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

/** The archive, sorted by path, with the folders that lead to each entry unless they are given themselves. */
export function createTar(entries: readonly TarEntry[]): Buffer {
  const byPath = new Map<string, TarEntry>();
  const folder = (path: string): TarEntry => ({ path, content: Buffer.alloc(0), mode: 0o755 });
  for (const { path } of entries) for (const each of foldersOf(path)) byPath.set(each, folder(each));
  for (const entry of entries) byPath.set(entry.path, entry);
  const paths = [...byPath.keys()].sort();
  const blocks = paths.flatMap((path) => {
    const entry = byPath.get(path);
    if (entry === undefined) return [];
    const padding = Buffer.alloc((BLOCK - (entry.content.length % BLOCK)) % BLOCK);
    return [header(entry), entry.content, padding];
  });
  // Two empty blocks are the end.
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}
