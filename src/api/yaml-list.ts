/** The List that `kubectl get -o yaml` prints, read item by item: as one document, ten thousand pods take gigabytes to parse. */
import { parse } from 'yaml';
import { refuseEndless } from '../lib/yaml.ts';

/** kubectl writes keys in the order of the alphabet, and items at the margin. */
const HEAD = /^(?:---\r?\n)?apiVersion: v1\r?\nitems:\r?\n(?=- )/;
const TAIL = /^kind: List(?:\r?\n(?:metadata:|\s).*)*\s*$/;
/** Where a line begins at the margin. */
const AT_MARGIN = /\n(?=[^\s])/g;

/** Undefined for any other text, and where an item cannot be read: whoever reads it as a whole can say where. */
export function parseYamlList(text: string): object | undefined {
  const head = HEAD.exec(text)?.[0];
  if (head === undefined) return undefined;
  const items: unknown[] = [];
  const margin = new RegExp(AT_MARGIN);
  margin.lastIndex = head.length;
  let start = head.length;
  while (text.startsWith('- ', start)) {
    const end = margin.exec(text) === null ? text.length : margin.lastIndex;
    const item = itemIn(text.slice(start, end));
    if (item === undefined) return undefined;
    items.push(item.value);
    start = end;
  }
  return TAIL.test(text.slice(start)) ? { apiVersion: 'v1', kind: 'List', items } : undefined;
}

function itemIn(text: string): { readonly value: unknown } | undefined {
  try {
    const parsed: unknown = parse(text, { logLevel: 'error', uniqueKeys: false });
    refuseEndless(parsed);
    return Array.isArray(parsed) && parsed.length === 1 ? { value: parsed[0] } : undefined;
  } catch {
    return undefined;
  }
}
