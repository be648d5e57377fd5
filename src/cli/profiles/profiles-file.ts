/** The file of remembered usage: one JSON object, readable by people and by every later version. */
import { ascending } from '../../lib/ascending.ts';
import { isRecord } from '../../lib/is-record.ts';
import { quoted } from '../../lib/shortened.ts';
import { isSavedUsage, type SavedUsage } from '../../model/saved-usage.ts';
import { identityOf } from '../../model/usage-store.ts';
import { CommandError } from '../cli-error.ts';

const KIND = 'UsageProfiles';
const VERSION = 'stowage.io/v1';

/** The text of a file that {@link parseProfilesFile} reads; entries are sorted, so that equal usage gives equal files. */
export function formatProfilesFile(items: readonly SavedUsage[]): string {
  const sorted = items.toSorted((a, b) => ascending(identityOf(a), identityOf(b)));
  return `${JSON.stringify({ apiVersion: VERSION, kind: KIND, items: sorted }, undefined, 1)}\n`;
}

/** @throws CommandError saying what is wrong with the file; a file is taken as a whole or not at all. */
export function parseProfilesFile(text: string, file: string): SavedUsage[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${file} is not JSON: give a file that \`stowage profiles export\` wrote`, { cause });
  }
  if (!isRecord(value) || value['kind'] !== KIND || !Array.isArray(value['items'])) {
    throw new CommandError(`${file} holds no usage: give a file that \`stowage profiles export\` wrote`);
  }
  const { apiVersion, items } = value;
  if (apiVersion !== VERSION) {
    throw new CommandError(
      `${file} is of version ${quoted(apiVersion) ?? 'none'}; this version of Stowage reads ${VERSION}`,
    );
  }
  const bad = items.findIndex((item) => !isSavedUsage(item));
  if (bad >= 0)
    throw new CommandError(
      `${file}: item ${bad + 1} of ${items.length} is not usage of a container; nothing was imported`,
    );
  return items.filter(isSavedUsage);
}
