import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultAllocationRules } from './rules.ts';
import { type Change, filterWrites } from './write-filter.ts';

const rules = defaultAllocationRules.write;
const NOW = 1_000_000;

/** A pod whose request changes; the limit is none. */
function change(before: number, after: number, more: Partial<Change> = {}): Change {
  return {
    uid: 'a',
    before: { request: before, limit: undefined },
    after: { request: after, limit: undefined, limitPolicy: 'Keep' },
    share: { before, after },
    want: after,
    isShort: false,
    isAtShare: false,
    hasRoom: false,
    isGreedy: false,
    isBinding: true,
    bandFactor: 1,
    writes: [],
    blocked: undefined,
    ...more,
  };
}
const judge = (each: Change, capacity = 10_000) => filterWrites([each], capacity, rules, NOW)[0];

describe('changes by choice', () => {
  test.each<[string, Change, string | undefined]>([
    ['nothing changes', change(400, 400), 'Settled'],
    ['a raise of a tenth', change(400, 440), undefined],
    ['of less than 5 %', change(400, 419), 'DeadBand'],
    ['of 5 % but less than 10m', change(100, 109), 'DeadBand'],
    ['a decrease needs 10 %', change(400, 361), 'DeadBand'],
    ['a decrease of 10 %', change(400, 360), undefined],
    ['an autoscaled pod needs twice as much', change(400, 430, { bandFactor: 2 }), 'DeadBand'],
    ['four seconds after a write', change(400, 500, { writes: [NOW - 4000] }), 'Spacing'],
    ['five seconds, counted from the tick', change(400, 500, { writes: [NOW - 5000] }), undefined],
    ['a decrease waits ten', change(400, 300, { writes: [NOW - 9000] }), 'Spacing'],
    [
      'six writes within the minute',
      change(400, 500, { writes: [6, 15, 24, 33, 42, 51].map((s) => NOW - 1000 * s).reverse() }),
      'RateLimit',
    ],
    [
      'older ones do not count',
      change(400, 500, { writes: [61, 62, 63, 64, 65, 66].map((s) => NOW - 1000 * s) }),
      undefined,
    ],
    [
      'an hour before it, by a clock that was set back since',
      change(400, 500, { writes: [NOW + 3_600_000] }),
      undefined,
    ],
    ['less than half of what it asked', change(400, 450, { want: 600 }), 'PartialRaise'],
    ['half of it', change(400, 500, { want: 600 }), undefined],
    ['less than half, but it uses all it has', change(400, 450, { want: 600, isAtShare: true }), undefined],
    ['a pod with room left', change(400, 500, { hasRoom: true }), 'HasRoom'],
    ['is lowered all the same', change(400, 300, { hasRoom: true }), undefined],
    ['a request that nobody waits for, and that binds nobody', change(400, 300, { isBinding: false }), 'NotNeeded'],
    ['is raised all the same', change(400, 500, { isBinding: false }), undefined],
    ['a greedy pod would take any raise', change(400, 490, { isGreedy: true }), 'DeadBand'],
    ['a quarter more is worth it', change(400, 500, { isGreedy: true }), undefined],
    ['the node is frozen', change(400, 800, { blocked: 'Frozen' }), 'Frozen'],
    ['not measured', change(400, 800, { blocked: 'Unmeasured' }), 'Unmeasured'],
  ])('%s', (_name, given, held) => {
    expect(judge(given)).toMatchObject({ held, isWritten: held === undefined, isForced: false, isFunding: false });
  });

  test('mbcas bug 15: the dead-band reads request and limit apart, so it does hold', () => {
    const both = change(400, 402, {
      before: { request: 400, limit: 800 },
      after: { request: 402, limit: 810, limitPolicy: 'Apply' },
    });
    expect(judge(both)?.held).toBe('DeadBand');
  });
});

describe('limits', () => {
  const limits = (before: number | undefined, after: number, request = 400) =>
    change(request, request, {
      before: { request, limit: before },
      after: { request, limit: after, limitPolicy: 'Apply' },
    });

  test.each<[string, Change, boolean]>([
    ['a first ceiling is written', limits(undefined, 440), true],
    ['a ceiling that moves 5 % up', limits(440, 470), true],
    ['a ceiling that hardly moves', limits(440, 450), false],
    [
      'one that hardly moves, and that the raised request would pass',
      change(440, 445, {
        before: { request: 440, limit: 444 },
        after: { request: 445, limit: 450, limitPolicy: 'Apply' },
      }),
      true,
    ],
    [
      'a limit that is kept is no change',
      change(400, 400, {
        before: { request: 400, limit: 800 },
        after: { request: 400, limit: 900, limitPolicy: 'Keep' },
      }),
      false,
    ],
  ])('%s', (_name, given, isWritten) => {
    expect(judge(given)?.isWritten).toBe(isWritten);
  });
});

describe('forced raises', () => {
  test('a pod short of CPU waits for no spacing and no half', () => {
    const short = change(400, 450, { want: 900, isShort: true, writes: [NOW - 1000] });
    expect(judge(short)).toMatchObject({ isWritten: true, isForced: true });
  });

  test('but no pod is written more often than the rate, whatever for', () => {
    const writes = new Array<number>(rules.perMinute).fill(NOW - 30_000);
    expect(judge(change(400, 800, { isShort: true, writes }))).toMatchObject({ isWritten: false, held: 'RateLimit' });
    const [raise, payer] = filterWrites(
      [change(400, 800, { isShort: true }), change(600, 200, { uid: 'b', writes })],
      1000,
      rules,
      NOW,
    );
    expect([raise?.held, payer?.held]).toEqual(['Unfunded', 'RateLimit']);
  });

  test('writes of before the machine’s clock was set back by an hour hold up no raise', () => {
    const writes = new Array<number>(rules.perMinute).fill(NOW + 3_600_000);
    expect(judge(change(400, 800, { isShort: true, writes }))).toMatchObject({ isWritten: true, isForced: true });
  });

  test('but a few millicores are not worth it', () => {
    expect(judge(change(400, 409, { isShort: true }))?.isForced).toBe(false);
  });
});

describe('funding', () => {
  test('decreases within the band and the spacing pay for a raise, the largest first, only as many as needed', () => {
    const verdicts = filterWrites(
      [
        change(400, 480),
        change(500, 460, { uid: 'b', writes: [NOW - 1000] }),
        change(500, 455, { uid: 'c', writes: [NOW - 1000] }),
        change(500, 470, { uid: 'd' }),
      ],
      1900,
      rules,
      NOW,
    );
    expect(verdicts.map(({ isWritten, isFunding }) => [isWritten, isFunding])).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, false],
    ]);
  });

  test('what is lowered anyway pays first, whatever else could give more', () => {
    const pay = (...uids: readonly string[]) => {
      const payers = [
        change(500, 400, { uid: 'written' }),
        change(900, 700, { uid: 'larger', writes: [NOW - 1000] }),
        change(500, 480, { uid: 'small' }),
      ].toSorted((a, b) => uids.indexOf(a.uid) - uids.indexOf(b.uid));
      const verdicts = filterWrites([change(400, 500), ...payers], 2300, rules, NOW);
      return payers.filter((_, index) => verdicts[index + 1]?.isWritten === true).map(({ uid }) => uid);
    };
    expect(pay('written', 'larger', 'small')).toEqual(['written']);
    expect(pay('small', 'larger', 'written')).toEqual(['written']);
  });

  test('the largest that was held back pays before smaller ones', () => {
    const held = (uid: string, after: number) => change(500, after, { uid, writes: [NOW - 1000] });
    const verdicts = filterWrites([change(400, 500), held('a', 460), held('b', 400), held('c', 470)], 1900, rules, NOW);
    expect(verdicts.map(({ isWritten }) => isWritten)).toEqual([true, false, true, false]);
  });

  test('of raises that cannot all be paid for those by choice wait first, the largest of them first', () => {
    const raises = [
      change(400, 440, { uid: 'small' }),
      change(400, 600, { uid: 'forced', isShort: true }),
      change(400, 500, { uid: 'large' }),
    ];
    const written = (capacity: number) =>
      filterWrites(raises, capacity, rules, NOW).flatMap(({ isWritten }, index) =>
        isWritten ? [raises[index]?.uid] : [],
      );
    expect(written(1540)).toEqual(['small', 'forced', 'large']);
    expect(written(1440)).toEqual(['small', 'forced']);
    expect(written(1400)).toEqual(['forced']);
    expect(written(1200)).toEqual([]);
  });

  test('a request that binds nobody is lowered as soon as somebody waits for it', () => {
    const [raise, payer] = filterWrites(
      [change(400, 500), change(600, 400, { uid: 'b', isBinding: false })],
      1000,
      rules,
      NOW,
    );
    expect([raise?.isWritten, payer?.isFunding]).toEqual([true, true]);
  });

  test('integration 2: what is free on the node is no room in a quota: there its own pods pay', () => {
    const changes = [
      change(400, 500),
      change(500, 400, { uid: 'sibling', isBinding: false }),
      change(900, 600, { uid: 'stranger', isBinding: false }),
    ];
    const group = { cap: 900, members: ['a', 'sibling'] };
    const written = (groups: readonly (typeof group)[]) =>
      filterWrites(changes, 10_000, rules, NOW, groups).map(({ isWritten }) => isWritten);
    expect(written([])).toEqual([true, false, false]);
    expect(written([group])).toEqual([true, true, false]);
    expect(written([{ ...group, cap: 850 }])).toEqual([false, true, false]);
  });

  test('room that is free needs no funding', () => {
    const [, payer] = filterWrites([change(400, 480), change(500, 480, { uid: 'b' })], 1000, rules, NOW);
    expect(payer?.held).toBe('DeadBand');
  });

  test('a raise that nobody may pay for waits; one that is forced goes first', () => {
    const [byChoice, forced, payer] = filterWrites(
      [
        change(400, 480),
        change(400, 480, { uid: 'b', isShort: true }),
        change(500, 420, { uid: 'c', writes: [NOW - 1000] }),
      ],
      1300,
      rules,
      NOW,
    );
    expect(byChoice?.held).toBe('Unfunded');
    expect(forced?.isWritten).toBe(true);
    expect(payer?.isFunding).toBe(true);
  });

  test('what is blocked pays for nothing', () => {
    const [raise, payer] = filterWrites(
      [change(400, 500), change(600, 500, { uid: 'b', blocked: 'Unmeasured' })],
      1000,
      rules,
      NOW,
    );
    expect([raise?.held, payer?.held]).toEqual(['Unfunded', 'Unmeasured']);
  });
});

test('for any changes whose sum fits, what is written fits as well', () => {
  const amount = fc.integer({ min: 10, max: 1000 });
  const row = fc.record({
    before: amount,
    after: amount,
    isShort: fc.boolean(),
    age: fc.integer({ min: 0, max: 20_000 }),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), (rows) => {
      const changes = rows.map(({ before, after, isShort, age }, index) =>
        change(before, after, { uid: `p${index}`, isShort, writes: [NOW - age] }),
      );
      const before = rows.reduce((sum, each) => sum + each.before, 0);
      const capacity = Math.max(
        before,
        rows.reduce((sum, each) => sum + each.after, 0),
      );
      const verdicts = filterWrites(changes, capacity, rules, NOW);
      const written = rows.reduce(
        (sum, each, index) => sum + (verdicts[index]?.isWritten === true ? each.after : each.before),
        0,
      );
      expect(written).toBeLessThanOrEqual(capacity);
    }),
    { numRuns: 1000 },
  );
});
