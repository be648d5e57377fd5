/** Writes a file that somebody keeps: what was there stays until all of the new text is on the disk. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { hasErrorCode } from '../lib/errors.ts';

/** No file can be made beside it, though itself it may be written. */
const NO_NEW_FILE = ['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG'];

/**
 * A link, a device, a pipe, and a file of somebody else, are written in place; so is a file beside which none can be
 * made.
 * @throws Error of the file system; what was there has then not changed, but for what is written in place.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && (!found.isFile() || found.uid !== userInfo().uid)) return await writeFile(path, text);
  // A file that may only be read would be replaced all the same.
  if (found !== undefined) await access(path, constants.W_OK);
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true, ...(found !== undefined && { mode: found.mode }) });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    if (!NO_NEW_FILE.some((code) => hasErrorCode(error, code))) throw error;
    await writeFile(path, text);
  }
}
