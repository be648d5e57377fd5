/**
 * Reads small kernel files again and again. A file stays open between reads: one system call a read instead of four,
 * which is most of the sampler's cost. The kernel answers ENODEV for a file whose group is gone.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { describeError, hasErrorCode } from '../../lib/errors.ts';

/** `gone`: the file is not there (any more). `unreadable`: it is, but cannot be read; `message` says why. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: 'gone' | 'unreadable'; readonly message: string };

/** Synchronous, as the kernel makes up these files while they are read. Never throws. */
export interface FileReader {
  read(path: string): FileText;
  /**
   * Keeps nothing open: for what is looked at now and then. Each open file of a control group costs its reader a page
   * in the kernel (fs/seq_file.c), which counts against the memory of the reader's own group.
   */
  readOnce(path: string): FileText;
  /** Closes what was read below `folder`, or that very file. */
  forget(folder: string): void;
  /** Files held open. */
  readonly size: number;
  close(): void;
}

/** The largest file read is a `cpu.stat` of a few hundred bytes. */
const BUFFER_BYTES = 4096;

/** The system calls; what they throw carries the kernel's code. Replaceable for tests. */
export interface FileCalls {
  open(path: string): number;
  /** Reads from the beginning of the file. @returns bytes read. */
  read(descriptor: number, buffer: Buffer): number;
  close(descriptor: number): void;
}

const systemCalls: FileCalls = {
  open: (path) => openSync(path, 'r'),
  read: (descriptor, buffer) => readSync(descriptor, buffer, 0, BUFFER_BYTES, 0),
  close: closeSync,
};

export function createFileReader(calls: FileCalls = systemCalls): FileReader {
  const open = new Map<string, number>();
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);

  const close = (descriptor: number): void => {
    try {
      calls.close(descriptor);
    } catch {
      // Its group is gone; there is nothing left to close.
    }
  };
  const drop = (path: string): void => {
    const descriptor = open.get(path);
    if (descriptor === undefined) return;
    open.delete(path);
    close(descriptor);
  };
  const failure = (path: string, error: unknown): FileText => {
    const isGone = ['ENOENT', 'ENODEV', 'ENOTDIR'].some((code) => hasErrorCode(error, code));
    const message = `${path} cannot be read: ${describeError(error)}`;
    return { ok: false, why: isGone ? 'gone' : 'unreadable', message };
  };
  const textOf = (descriptor: number): FileText => {
    const length = calls.read(descriptor, buffer);
    return { ok: true, text: buffer.toString('latin1', 0, length) };
  };
  const readHeld = (path: string): FileText => {
    try {
      let descriptor = open.get(path);
      if (descriptor === undefined) {
        descriptor = calls.open(path);
        open.set(path, descriptor);
      }
      return textOf(descriptor);
    } catch (error) {
      drop(path);
      return failure(path, error);
    }
  };

  return {
    read(path) {
      const wasOpen = open.has(path);
      const first = readHeld(path);
      // A group of the same name may have taken the place of the one that went. No file of the kernel's is ever empty.
      if (!wasOpen || (first.ok && first.text !== '')) return first;
      drop(path);
      return readHeld(path);
    },
    readOnce(path) {
      let descriptor: number | undefined;
      try {
        descriptor = calls.open(path);
        return textOf(descriptor);
      } catch (error) {
        return failure(path, error);
      } finally {
        if (descriptor !== undefined) close(descriptor);
      }
    },
    forget(folder) {
      for (const path of [...open.keys()]) if (path === folder || path.startsWith(`${folder}/`)) drop(path);
    },
    get size() {
      return open.size;
    },
    close() {
      for (const path of [...open.keys()]) drop(path);
    },
  };
}
