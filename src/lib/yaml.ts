/** One YAML document as data. A module of its own, so that who rarely needs the parser can import it when that happens. */
import { parse } from 'yaml';

/** @throws YAMLParseError for a text that is not YAML, or holds more than one document. */
export function parseYaml(text: string): unknown {
  return parse(text);
}
