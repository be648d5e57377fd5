/** The pages written for people, and what can be read from them: links, headings, code, names in backticks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

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

/** The words of every `stowage …` command line: in code blocks, alone or behind a pipe, and in backticks with arguments. */
export function commandLines(text: string): string[][] {
  const inBlocks = codeBlocks(text).flatMap((block) => block.replace(/\\\n\s*/g, ' ').split('\n'));
  return [...inBlocks.flatMap(wordsAfterStowage), ...inlineCode(text).flatMap(wordsAfterStowage).filter(hasArguments)];
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
  return line
    .replace(/\s+#\s.*$/, '')
    .split(' | ')
    .flatMap((part) => {
      const words = [
        ...part
          .trim()
          .replace(/^\$ /, '')
          .matchAll(/'[^']*'|"[^"]*"|\S+/g),
      ].map(([word]) => word.replace(/^['"]|['"]$/g, ''));
      if (words[0] === 'node' && words[1] === 'bin/stowage.mjs') words.splice(0, 2, 'stowage');
      return words[0] !== 'stowage' || words.length < 2 || words[1] === 'COMMAND' ? [] : [words.slice(1)];
    });
}

export function codeBlocks(text: string): string[] {
  return [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

function withoutBlocks(text: string): string {
  return text.replace(/^```\w*\n[\s\S]*?^```$/gm, '');
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replace(/`[^`\n]*`/g, '');
}
