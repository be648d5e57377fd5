/**
 * What server-side apply asks of a configuration before it merges: that its fields are known, that every value is of its field's form, and that items
 * of lists can be told apart. Told in Go's words, in which values are printed as Go prints them.
 * Source: structured-merge-diff typed/validate.go and typed/helpers.go.
 */
import { type FieldForm, type FieldSchema, keysOf } from './field-schema.ts';
import { goNumber, goSyntax, goText, goType } from './go-text.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** What is wrong, as one text; undefined where nothing is. */
export function configurationProblem(body: JsonObject, schema: FieldSchema): string | undefined {
  const problems = problemsOf(body, schema).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return problems.length > 1 ? `errors:\n${problems.map((each) => `  ${each}`).join('\n')}` : problems[0];
}

function problemsOf(value: Json, schema: FieldSchema): Problem[] {
  if (value === null) return [];
  const { form } = schema;
  if (isObject(value)) return form === 'map' || form === 'any' ? problemsOfMap(value, schema) : [mismatch(value, form)];
  if (Array.isArray(value))
    return form === 'list' || form === 'any' ? problemsOfList(value, schema) : [mismatch(value, form)];
  return form === 'any' || form === 'scalar' || form === typeof value ? [] : [mismatch(value, form)];
}

/** At the first member nobody knows the real server looks no further, in an order that is chance: here what is known comes first. */
function problemsOfMap(map: JsonObject, schema: FieldSchema): Problem[] {
  const names = Object.keys(map).filter((name) => map[name] !== undefined);
  const unknown = names.find((name) => !schema.knows(name));
  return [
    ...names
      .filter((name) => schema.knows(name))
      .flatMap((name) => below(`.${name}`, problemsOf(map[name] ?? null, schema.member(name)))),
    ...(unknown === undefined ? [] : [{ path: `.${unknown}`, message: 'field not declared in schema' }]),
  ];
}

function problemsOfList(list: readonly Json[], schema: FieldSchema): Problem[] {
  const keys = schema.listKeys();
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const element = keys === undefined ? { path: `[${index}]` } : elementOf(item, keys, schema);
    // Of an item without a place nothing more can be told, and of those after it nothing is.
    if ('problem' in element) return [...problems, { path: '', message: `element ${index}: ${element.problem}` }];
    if (seen.has(element.path)) problems.push({ path: '', message: `duplicate entries for key ${element.path}` });
    if (keys !== undefined) seen.add(element.path);
    problems.push(...below(element.path, problemsOf(item, schema.item())));
  }
  return problems;
}

function below(prefix: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ path, message }) => ({ path: `${prefix}${path}`, message }));
}

function elementOf(
  item: Json,
  keys: readonly string[] | 'set',
  schema: FieldSchema,
): { readonly path: string } | { readonly problem: string } {
  if (keys === 'set') {
    if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
    if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' };
    if (isObject(item)) return { problem: "associative list without keys has an element that's a map type" };
    return { path: `[=${keyText(item)}]` };
  }
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isObject(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const found = keysOf(item, keys, schema);
  if (found.length > 0) return { path: `[${found.map(([key, value]) => `${key}=${keyText(value)}`).join(',')}]` };
  const names = keys.map((key) => JSON.stringify(key)).join(' ');
  return {
    problem: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  };
}

/** As structured-merge-diff's own values print themselves. */
function keyText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(keyText).join(',')}]`;
  if (isObject(value))
    return Object.entries(value)
      .map(([key, member]) => `${key}=${keyText(member ?? null)}`)
      .join('');
  return typeof value === 'number' ? goNumber(value) : JSON.stringify(value);
}

function mismatch(value: Json, form: FieldForm): Problem {
  const messages: Partial<Record<FieldForm, string>> = {
    string: `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`,
    number: `expected numeric (int or float), got ${goType(value)}`,
    boolean: `expected boolean, got &{${goText(value)}}`,
    scalar: `expected any scalar, got &{${goText(value)}}`,
    list: `expected list, got &{${goText(value)}}`,
    map: `expected map, got &{${goText(value)}}`,
  };
  return { path: '', message: messages[form] ?? '' };
}
