/** Warnings as a header. Source: apiserver pkg/endpoints/filters/warning.go; apimachinery pkg/util/net/http.go `NewWarningHeader`. */
import { Buffer } from 'node:buffer';

/** Characters of all warnings. Where they are more, each is cut, and those that come after as many again are left out. */
const MOST_CHARACTERS = 4_096;
const CUT_TO = 256;

/** Each warning once; undefined where there is none that can be told. */
export function warningHeader(warnings: readonly string[]): string | undefined {
  const told = bounded([...new Set(warnings)]).filter((each) => each !== '' && !/\p{Cc}/u.test(each));
  if (told.length === 0) return undefined;
  const text = told.map((each) => `299 - "${each.replace(/["\\]/g, '\\$&')}"`).join(', ');
  // In UTF-8 as Go writes it: characters beyond Latin-1 are no text of a header to Node.
  return Buffer.from(text).toString('latin1');
}

function bounded(warnings: readonly string[]): readonly string[] {
  const total = warnings.reduce((sum, { length }) => sum + length, 0);
  if (total <= MOST_CHARACTERS) return warnings;
  const kept: string[] = [];
  let characters = 0;
  for (const each of warnings) {
    if (characters >= MOST_CHARACTERS) break;
    const cut = Array.from(each.slice(0, 2 * CUT_TO)).slice(0, CUT_TO);
    kept.push(cut.join(''));
    characters += cut.length;
  }
  return kept;
}
