/** Reads from the sources of tests which number a test carries, which comment stands above it, and how many runs it makes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What fast-check does where nothing else is said. */
export const DEFAULT_RUNS = 100;

export interface TaggedTest {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly title: string;
  /** Numbers N of `Property N` before the first colon of the title. */
  readonly properties: readonly number[];
  /** Numbers N of the comments `// Feature: k8s-workload-rightsizing, Property N: text` right above the test. */
  readonly comments: readonly number[];
  /** The fewest runs of its properties; 0 for a test of examples. */
  readonly runs: number;
}

const COMMENT = /^\/\/ Feature: k8s-workload-rightsizing, Property (\d+): \S/;

/** Sources of tests below a folder, by path. */
export function testFiles(root: string, folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:test|conformance|suite|behaviour)\.ts$/.test(path))
    .map((path) => join(folder, path));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/**
 * The tests of a file that carry the number of a property, in their title or in a comment above. The layout is the
 * formatter's: a test ends at the first line indented as its own that closes a call.
 */
export function taggedTests(path: string, source: string): readonly TaggedTest[] {
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const indent = /^( *)test\b.*\(/.exec(line)?.[1];
    if (indent === undefined) return [];
    const title = /(['"`])(.*?)\1/.exec(lines.slice(index, index + 2).join('\n'))?.[2] ?? '';
    const properties = numbersBeforeColon(title);
    const comments = commentsAbove(lines, index);
    if (properties.length === 0 && comments.length === 0) return [];
    const body = lines.slice(index, endOf(lines, index, indent) + 1).join('\n');
    return [{ path, title, properties, comments, runs: runsOf(body, source) }];
  });
}

function numbersBeforeColon(title: string): readonly number[] {
  const [tag = '', ...rest] = title.split(':');
  return rest.length === 0 ? [] : [...tag.matchAll(/\bProperty (\d+)/g)].map((match) => Number(match[1]));
}

function commentsAbove(lines: readonly string[], index: number): readonly number[] {
  const numbers: number[] = [];
  for (let above = index - 1; ; above--) {
    const text = lines[above]?.trim() ?? '';
    if (!text.startsWith('//')) return numbers;
    const number = COMMENT.exec(text)?.[1];
    if (number !== undefined) numbers.push(Number(number));
  }
}

function endOf(lines: readonly string[], index: number, indent: string): number {
  const end = lines.findIndex(
    (line, at) =>
      at >= index && (at === index ? line.endsWith(');') : /^(?:[}\]].*)?\);$/.test(line.slice(indent.length))),
  );
  return end < 0 ? index : end;
}

/** Of `fc.assert` in the test itself; else of the cases that a function of the file samples for it, all of which it looks at. */
function runsOf(body: string, source: string): number {
  const asserts = body.match(/\bfc\.assert\(/g)?.length ?? 0;
  if (asserts > 0) {
    const given = givenRuns(body, source);
    return Math.min(...given, ...(given.length < asserts ? [DEFAULT_RUNS] : []));
  }
  const sampling = [...source.matchAll(/^(?:export )?function (\w+)\([\s\S]*?^}/gm)].filter(
    ([text, name]) => text.includes('.sample(') && new RegExp(`\\b${name}\\(`).test(body),
  );
  return Math.min(...sampling.flatMap(([text]) => givenRuns(text, source)), sampling.length === 0 ? 0 : Infinity);
}

function givenRuns(text: string, source: string): readonly number[] {
  return [...text.matchAll(/\bnumRuns: (\w+)/g)].map(([, value = '']) => {
    const literal = /^[\d_]+$/.test(value)
      ? value
      : (new RegExp(`^const ${value} = ([\\d_]+);$`, 'm').exec(source)?.[1] ?? '0');
    return Number(literal.replaceAll('_', ''));
  });
}
