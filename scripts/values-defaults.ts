/** The chart's defaults as its templates can read them, which they cannot with values.yaml: a map by path of the section. */
import { parse, stringify } from 'yaml';
import { isRecord } from '../src/lib/is-record.ts';
import { isOwnSection } from './values-schema.ts';

/** @param values text of values.yaml. */
export function renderDefaults(values: string): string {
  const sections: Record<string, Readonly<Record<string, unknown>>> = {};
  const collect = (section: Readonly<Record<string, unknown>>, path: readonly string[]): void => {
    const own: Record<string, unknown> = {};
    sections[['Values', ...path].join('.')] = own;
    for (const [name, value] of Object.entries(section)) {
      const at = [...path, name];
      if (isRecord(value) && isOwnSection(at.join('.'))) collect(value, at);
      else own[name] = value;
    }
  };
  collect(parse(values), []);
  const comment = 'Written by `npm run docs` from values.yaml; edit that.';
  return `{{/* ${comment} */}}\n{{- define "stowage.defaults" -}}\n${stringify(sections)}{{- end -}}\n`;
}
