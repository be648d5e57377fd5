import { describe, expect, test } from 'vitest';
import { changed, listQuery } from './list-query.ts';
import { parseRoute } from './route.ts';

const after = (before: string, changes: Readonly<Record<string, string>>): string =>
  changed(new URLSearchParams(before), changes).toString();

describe('what is asked of a list', () => {
  test.each([
    ['', { q: 'web' }, 'q=web'],
    ['q=web&page=3', { state: 'drifted' }, 'q=web&state=drifted'],
    ['q=web&page=3', { q: '' }, ''],
    ['q=web&page=3', { page: '4' }, 'q=web&page=4'],
    ['q=web&page=3', { page: '' }, 'q=web'],
    ['sort=name', { sort: 'cpu', order: 'desc' }, 'sort=cpu&order=desc'],
  ] as const)('%j changed by %j is %j', (before, changes, expected) => {
    expect(after(before, changes)).toBe(expected);
  });

  test('goes into the address, and the list is asked for anew', () => {
    const told: string[] = [];
    const query = listQuery('nodes', { replace: (address) => told.push(address), refresh: () => told.push('refresh') });
    query.show(parseRoute('#/nodes?class=spot&page=2'));
    expect(told).toEqual([]);
    expect(query.get('class')).toBe('spot');
    query.change({ q: 'zone a' });
    expect(told).toEqual(['#/nodes?class=spot&q=zone+a', 'refresh']);
    expect(query.params().toString()).toBe('class=spot&q=zone+a');
    expect(query.get('page')).toBe('');
  });
});
