/** Values of options that several commands have. */
import { InvalidArgumentError } from 'commander';

/** For options that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** @throws InvalidArgumentError for anything but 0 to 999999999. */
export function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number from 0 to 999999999.');
}
