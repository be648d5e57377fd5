import { describe, expect, test } from 'vitest';
import { anchorsOf, commandLines, commandNames, relativeLinks } from './pages.ts';
import { problemOf } from './parse-command.ts';

describe('the readers of pages', () => {
  test('see commands in blocks, behind pipes and in backticks, without comments', () => {
    const text = [
      '```sh',
      'stowage plan -n shop   # a comment',
      'kubectl get po -o yaml | node bin/stowage.mjs plan -f -',
      "$ stowage explain 'deploy/shop/web'",
      '```',
      'Then `stowage status -o wide`, or `stowage COMMAND --help`, or `stowage`, or `stowage demo`.',
    ].join('\n');
    expect(commandLines(text)).toEqual([
      ['plan', '-n', 'shop'],
      ['plan', '-f', '-'],
      ['explain', 'deploy/shop/web'],
      ['status', '-o', 'wide'],
    ]);
    expect(commandNames(text)).toEqual(['demo']);
  });

  test.each([[['frobnicate']], [['plan', '--no-such-option']], [['explain']], [['status', '-o', 'xml']]])(
    '%j is a problem',
    async (words) => {
      expect(await problemOf(words)).toContain(`stowage ${words.join(' ')}: `);
    },
  );

  test('a link to nowhere, also to a heading, is seen', () => {
    expect(relativeLinks('[a](b.md#c) [web](https://x.y) `[no](code.md)`')).toEqual(['b.md#c']);
    expect([...anchorsOf('# Fallback, return and storms\n## `stowage plan`')]).toEqual([
      'fallback-return-and-storms',
      'stowage-plan',
    ]);
  });
});
