/** Writes a page where the command line says, and says clearly why not. */
import { constants } from 'node:fs';
import { access, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeWriteError } from '../../lib/errors.ts';
import { CommandError } from '../cli-error.ts';

/** Before hours of simulated time are spent on a page that nobody can save. @throws CommandError */
export async function checkWritable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) throw refusal(path, 'it is a folder; name a file in it');
  try {
    await access(found === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    throw refusal(path, describeWriteError(error), error);
  }
}

/** @throws CommandError */
export async function writePage(path: string, html: string): Promise<void> {
  try {
    await writeFile(path, html);
  } catch (error) {
    throw refusal(path, describeWriteError(error), error);
  }
}

function refusal(path: string, why: string, cause?: unknown): CommandError {
  return new CommandError(`--html ${path}: cannot be written: ${why}`, { cause });
}
