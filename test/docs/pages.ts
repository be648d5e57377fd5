/** The pages written for people, and what can be read from them: links, headings, code, names in backticks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** A fenced block: its indentation, and what is in it. */
const BLOCK = /^( *)```\w*\n([\s\S]*?)^\1```$/gm;

export interface Page {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
}

/** README, CONTRIBUTING, docs/ and adr/. */
export function allPages(): Page[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => `${folder}/${path}`);
  return ['README.md', 'CONTRIBUTING.md', ...inFolder('docs'), ...inFolder('adr')]
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Targets of Markdown links that are not addresses of the web. */
export function relativeLinks(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Names of headings as GitHub makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}

/** What stands in backticks in running text. */
export function inlineCode(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** The words of every `stowage …` command line: in code blocks, alone, behind a pipe or within `<( )`, and in backticks with arguments. */
export function commandLines(text: string): string[][] {
  const inBlocks = blockLines(text).flatMap(wordsAfterStowage);
  return [...inBlocks, ...inlineCode(text).flatMap(wordsAfterStowage).filter(hasArguments)];
}

/** The words after the name of another program, such as `npm`, wherever a line begins with it; `-s` apart, no options before them. */
export function programLines(text: string, program: string): string[][] {
  return [...blockLines(text), ...inlineCode(text)].flatMap((line) => {
    // In a block without comments, two spaces set off what a command does.
    const [name, ...words] = wordsOf(line.trim().replace(/\s{2,}.*$/, ''));
    return name === program && words.length > 0 ? [words] : [];
  });
}

/** Commands that running text calls by name only: `stowage explain`. */
export function commandNames(text: string): string[] {
  return inlineCode(text)
    .flatMap(wordsAfterStowage)
    .filter((words) => !hasArguments(words))
    .flat();
}

const hasArguments = (words: readonly string[]): boolean => words.length > 1;

/** What follows `stowage` in each part of a pipe; nothing for other programs, and where COMMAND stands for any of them. */
function wordsAfterStowage(line: string): string[][] {
  const substituted = [...line.matchAll(/<\(([^)]*)\)/g)].map(([, inner = '']) => inner);
  return [...line.split(' | '), ...substituted].flatMap((part) => {
    const words = wordsOf(part);
    if (words[0] === 'node' && words[1] === 'bin/stowage.mjs') words.splice(0, 2, 'stowage');
    if (words[0] === 'kubectl' && words[1] === 'stowage') words.shift();
    return words[0] !== 'stowage' || words.length < 2 || words[1] === 'COMMAND' ? [] : [words.slice(1)];
  });
}

/** Words as a shell sees them, without prompt, comment and redirections. */
function wordsOf(line: string): string[] {
  const bare = line
    .replace(/(^|\s+)#\s.*$/, '')
    .replace(/\s+>\s*("[^"]*"|\S+)/g, '')
    .trim()
    .replace(/^\$ /, '');
  return [...bare.matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) => word.replace(/^['"]|['"]$/g, ''));
}

/** Lines of all code blocks, continued ones joined. */
function blockLines(text: string): string[] {
  return codeBlocks(text).flatMap((block) => block.replace(/\s*\\\n\s*/g, ' ').split('\n'));
}

/** Also those of lists, without the list's indentation. */
export function codeBlocks(text: string): string[] {
  return [...text.matchAll(BLOCK)].map(([, indent = '', block = '']) =>
    block.replaceAll(`\n${indent}`, '\n').slice(indent.length),
  );
}

function withoutBlocks(text: string): string {
  return text.replace(BLOCK, '');
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replace(/`[^`\n]*`/g, '');
}
