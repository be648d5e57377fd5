import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeMarkup } from './escape-markup.ts';

describe('text in markup', () => {
  test.each([
    ['plain text, Grüße', 'plain text, Grüße'],
    ['<script>alert("1")</script>', '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;'],
    ["a && b's", 'a &amp;&amp; b&#39;s'],
    ['&lt;', '&amp;lt;'],
    ['bell\u0007, tab\t', 'bell\ufffd, tab\t'],
  ])('%j is %j', (text, escaped) => {
    expect(escapeMarkup(text)).toBe(escaped);
  });

  test('for any text, nothing of it ends an element or an attribute, and it reads back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        const escaped = escapeMarkup(text);
        expect(escaped).not.toMatch(/[<>"']/);
        const read = escaped
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(read).toBe(text);
      }),
    );
  });
});
