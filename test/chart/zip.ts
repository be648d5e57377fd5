/** Reads one file out of a ZIP archive: just what is needed where no program for it is installed. */
import { inflateRawSync } from 'node:zlib';

/** Signatures of APPNOTE.TXT 4.3, little endian. */
const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;

/** @throws Error when the archive is damaged, holds no such file, or packs it in a way other than stored or deflated. */
export function readFromZip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf(signature(END_OF_DIRECTORY));
  if (end === -1) throw new Error('not a ZIP archive: it has no directory');
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error(`damaged ZIP archive: entry ${index}`);
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return contentOf(archive, at, name);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the ZIP archive holds no ${name}`);
}

function contentOf(archive: Buffer, entry: number, name: string): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const packedLength = archive.readUInt32LE(entry + 20);
  const header = archive.readUInt32LE(entry + 42);
  if (archive.readUInt32LE(header) !== LOCAL_HEADER) throw new Error(`damaged ZIP archive: header of ${name}`);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + packedLength);
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed);
  throw new Error(`${name} is packed with method ${method}, which is not known here`);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
