import { describe, expect, test } from 'vitest';
import { colourStyle } from './style.ts';
import { type Column, renderTable } from './table.ts';

interface Row {
  readonly name: string;
  readonly replicas: number;
  readonly note: string;
}

const columns: readonly Column<Row>[] = [
  { header: 'NAME', value: (row) => row.name },
  { header: 'REPLICAS', value: (row) => row.replicas, align: 'right' },
  { header: 'UID', value: () => 'u-1', wide: true },
  { header: 'NOTE', value: (row) => row.note },
];

const rows: readonly Row[] = [
  { name: 'web', replicas: 10, note: 'as wanted' },
  { name: '日本', replicas: 3, note: '' },
];

describe('renderTable', () => {
  test('aligns columns three spaces apart; empty cells are a dash', () => {
    expect(renderTable(columns, rows)).toEqual([
      'NAME   REPLICAS   NOTE',
      'web          10   as wanted',
      '日本          3   -',
    ]);
  });

  test('wide adds its columns', () => {
    expect(renderTable(columns, rows, { wide: true })[1]).toBe('web          10   u-1   as wanted');
  });

  describe('a last column too long for the terminal', () => {
    const text = 'PodDisruptionBudget web allows no disruption now, and its pods are not ready';
    const long = [{ name: 'web', replicas: 1, note: text }];

    test('is broken between words beside the others where there is room', () => {
      expect(renderTable(columns, long, { width: 50 })).toEqual([
        'NAME   REPLICAS   NOTE',
        'web           1   PodDisruptionBudget web allows',
        '                  no disruption now, and its pods',
        '                  are not ready',
      ]);
    });

    test('stands under its line where there is none, and what is short stays beside', () => {
      expect(renderTable(columns, [...long, ...rows.slice(0, 1)], { width: 40 })).toEqual([
        'NAME   REPLICAS   NOTE',
        'web           1',
        '    PodDisruptionBudget web allows no',
        '    disruption now, and its pods are not',
        '    ready',
        'web          10   as wanted',
      ]);
    });

    test('is whole in a pipe', () => {
      expect(renderTable(columns, long)[1]).toBe(`web           1   ${text}`);
    });

    test('is cut where a row must be one line', () => {
      const [, line, ...more] = renderTable(columns, long, { width: 40, cut: true });
      expect(line).toBe('web           1   PodDisruptionBudget w…');
      expect(more).toEqual([]);
    });

    test('keeps its colour on every line', () => {
      const coloured: readonly Column<Row>[] = [{ header: 'N', value: ({ note }) => ({ text: note, style: 'bad' }) }];
      const lines = renderTable(coloured, long, { width: 30, style: colourStyle }).slice(1);
      expect(lines).toHaveLength(3);
      for (const line of lines) expect([line.slice(0, 5), line.slice(-5)]).toEqual(['\u001b[31m', '\u001b[39m']);
    });
  });

  test('no line ends in spaces', () => {
    for (const line of renderTable(columns, rows, { wide: true })) expect(line).toBe(line.trimEnd());
  });

  test('without rows only the headers are printed', () => {
    expect(renderTable(columns, [])).toEqual(['NAME   REPLICAS   NOTE']);
  });

  test('of more rows than a call takes arguments', () => {
    const lines = renderTable(
      [{ header: 'A', value: (row: number) => row }],
      Array.from({ length: 150_000 }, (_, row) => row),
    );
    expect([lines.length, lines.at(-1)]).toEqual([150_001, '149999']);
  });

  test('colours change no column', () => {
    const styled = renderTable(
      [
        { header: 'A', value: () => ({ text: 'x', style: 'bad' }) },
        { header: 'B', value: () => 'y' },
      ],
      [0],
      { style: colourStyle },
    );
    expect(styled).toEqual(['\u001b[1mA\u001b[22m   \u001b[1mB\u001b[22m', '\u001b[31mx\u001b[39m   y']);
  });

  test('text from the cluster cannot steer the terminal', () => {
    expect(renderTable([{ header: 'A', value: () => '\u001b[2J' }], [0])[1]).toBe('\\x1b[2J');
  });
});
