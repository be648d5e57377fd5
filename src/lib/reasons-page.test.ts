import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reasonTable } from './reason-table.ts';
import { renderReasonsPage } from './reasons-page.ts';

const page = readFileSync(new URL('../../docs/reasons.md', import.meta.url), 'utf8');

describe('docs/reasons.md', () => {
  test('is what the table says; `npm run docs` writes it', () => {
    expect(page).toBe(renderReasonsPage());
  });

  test('lists exactly the reasons of the table', () => {
    const listed = new Set([...page.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1] ?? ''));
    expect([...listed].toSorted()).toEqual(Object.keys(reasonTable).toSorted());
  });

  test('a reason used in two ways is in both sections', () => {
    const [, events = '', unsteered = ''] = page.split(/^## (?:Blocks|Unsteered admissions)$/m);
    expect(events).toContain('`ReadOnly`');
    expect(unsteered).toContain('`ReadOnly`');
  });

  test('every row has as many cells as the head', () => {
    for (const row of page.split('\n').filter((line) => line.startsWith('|'))) {
      expect(row.replaceAll('\\|', '').match(/\|/g)).toHaveLength(5);
    }
  });
});
