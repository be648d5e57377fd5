import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aDeployment, aPod, aReplicaSet } from '../../model/testing/records.ts';
import type { AdmissionDecision } from './admission-decision.ts';
import { type Claim, createClaimLedger } from './claims.ts';
import { admit, admitSteered, createWorld, podFrom, scale, viewOf } from './testing/world.ts';

const TTL = 30_000;
const claim = (uid: string, changes: Partial<Claim> = {}): Claim => ({
  uid,
  workloadUid: 'w',
  revision: 'rev1',
  slot: 1,
  side: 'spot',
  at: 0,
  ...changes,
});
const answer: AdmissionDecision = {
  kind: 'unsteered',
  reason: 'AlreadyStamped',
  message: '',
  warn: false,
  wouldBe: undefined,
};
const replicaSet = aReplicaSet(aDeployment());
const podOf = (admissionId: string) => aPod(replicaSet, admissionId, { admissionId });
const uidsOf = (claims: readonly Claim[]): string[] => claims.map(({ uid }) => uid);

describe('createClaimLedger', () => {
  test('claims stand until their pod is seen, oldest first', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    ledger.claim(claim('b'), answer);
    ledger.claim(claim('c'), answer);
    expect(uidsOf(ledger.outstanding('w', [podOf('b')], 1))).toEqual(['a', 'c']);
    expect(ledger.size()).toBe(2);
  });

  test('those that are sent to a side are counted over all workloads, until they are seen or expire', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim({ ...claim('a'), side: 'spot' });
    ledger.claim({ ...claim('b'), side: 'spot', workloadUid: 'other' });
    ledger.claim({ ...claim('c'), side: 'on-demand' });
    const { at } = claim('a');
    expect([ledger.unseenOn('spot', at), ledger.unseenOn('on-demand', at)]).toEqual([2, 1]);
    ledger.podSeen('b');
    expect(ledger.unseenOn('spot', at)).toBe(1);
    expect(ledger.unseenOn('spot', at + TTL)).toBe(0);
  });

  test('case 29: a claim retired by its pod does not come back when the pod is gone', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    expect(ledger.outstanding('w', [podOf('a')], 1)).toEqual([]);
    expect(ledger.outstanding('w', [], 2)).toEqual([]);
  });

  test.each([
    ['terminating', { deletingAt: 5 }],
    ['failed', { phase: 'Failed' as const }],
  ])('a %s pod retires its claim as well', (_, changes) => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    expect(ledger.outstanding('w', [{ ...podOf('a'), ...changes }], 1)).toEqual([]);
  });

  test('case 43: while pods cannot be followed nothing says that one does not come: claims count from when they are, half an hour at most', () => {
    let unseenUntil = 0;
    const ledger = createClaimLedger({ ttlMillis: TTL, unseenUntil: () => unseenUntil });
    ledger.claim(claim('a'), answer);
    unseenUntil = 10 * TTL;
    ledger.sweep(10 * TTL);
    expect(uidsOf(ledger.outstanding('w', [], 11 * TTL - 1))).toEqual(['a']);
    expect(ledger.outstanding('w', [], 11 * TTL)).toEqual([]);
    ledger.claim(claim('b'), answer);
    unseenUntil = 100 * TTL;
    expect(uidsOf(ledger.outstanding('w', [], 61 * TTL - 1))).toEqual(['b']);
    ledger.sweep(61 * TTL);
    expect(ledger.size()).toBe(0);
  });

  test('podSeen retires the claim of a pod that lives too briefly for any decision', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    ledger.podSeen('a');
    ledger.podSeen('never claimed');
    expect(ledger.outstanding('w', [], 1)).toEqual([]);
  });

  test('case 40: case 44: hazard H15: a claim whose pod never comes expires, to the millisecond', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a', { at: 100 }), answer);
    expect(uidsOf(ledger.outstanding('w', [], 100 + TTL - 1))).toEqual(['a']);
    expect(ledger.outstanding('w', [], 100 + TTL)).toEqual([]);
  });

  test('the time a claim stands is the one in force at the moment', () => {
    const options = { ttlMillis: TTL };
    const ledger = createClaimLedger(options);
    ledger.claim(claim('a', { at: 0 }), answer);
    options.ttlMillis = 2 * TTL;
    expect(uidsOf(ledger.outstanding('w', [], TTL))).toEqual(['a']);
    options.ttlMillis = 1;
    expect(ledger.outstanding('w', [], 1)).toEqual([]);
  });

  test('case 40: sweep drops what has expired without being asked about', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a', { at: 0 }), answer);
    ledger.claim(claim('b', { at: 10 }), answer);
    ledger.sweep(TTL);
    expect(ledger.size()).toBe(1);
    expect(ledger.recall('a', TTL)).toBeUndefined();
  });

  test('case 42: workloads do not see each other’s claims', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    ledger.claim(claim('b', { workloadUid: 'other' }), answer);
    expect(uidsOf(ledger.outstanding('other', [podOf('a')], 1))).toEqual(['b']);
    ledger.forgetWorkload('other');
    expect(ledger.outstanding('other', [], 1)).toEqual([]);
    expect(uidsOf(ledger.outstanding('w', [], 1))).toEqual(['a']);
  });

  test('case 41: claims go by the uid of the workload, so one that was deleted and made again starts empty', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a', { workloadUid: 'uid-before' }), answer);
    expect(ledger.outstanding('uid-after', [], 1)).toEqual([]);
  });

  test('remembers the answer even after the claim is retired, until its time is over', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    ledger.podSeen('a');
    expect(ledger.recall('a', TTL - 1)).toBe(answer);
    expect(ledger.recall('a', TTL)).toBeUndefined();
    expect(ledger.recall('other', 1)).toBeUndefined();
  });

  test('a claim without an answer only reserves', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'));
    expect(uidsOf(ledger.outstanding('w', [], 1))).toEqual(['a']);
    expect(ledger.recall('a', 1)).toBeUndefined();
  });

  test('an answer that repeats a megabyte of the pod is not remembered, its place is', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    const steered = admitSteered(createWorld(aDeployment()));
    const [operation] = steered.patch;
    if (operation === undefined) throw new Error('the pod is not steered');
    ledger.claim(claim('short'), steered);
    ledger.claim(claim('long'), { ...steered, patch: [{ ...operation, value: 'x'.repeat(1 << 20) }] });
    expect(ledger.recall('short', 1)).toBe(steered);
    expect(ledger.recall('long', 1)).toBeUndefined();
    expect(uidsOf(ledger.outstanding('w', [], 1))).toEqual(['short', 'long']);
  });

  test('release gives up the claim and the answer', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a'), answer);
    ledger.release('a');
    expect(ledger.size()).toBe(0);
    expect(ledger.recall('a', 1)).toBeUndefined();
  });

  test('claiming twice under one uid keeps one claim', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    ledger.claim(claim('a', { slot: 1 }), answer);
    ledger.claim(claim('a', { slot: 2, workloadUid: 'other' }), answer);
    expect(ledger.size()).toBe(1);
    expect(ledger.outstanding('w', [], 1)).toEqual([]);
  });

  test('remembers a bounded number of answers', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    for (let index = 0; index <= 10_000; index++) ledger.claim(claim(`c${index}`), answer);
    expect(ledger.recall('c0', 1)).toBeUndefined();
    expect(ledger.recall('c10000', 1)).toBe(answer);
  });

  test.each([0, -1, Number.NaN])('refuses a time to live of %d', (ttlMillis) => {
    expect(() => createClaimLedger({ ttlMillis })).toThrow(RangeError);
  });

  test('case 39: case 43: hazard H2: a scale change, and with it a new generation, wipes no claim', () => {
    const world = createWorld(aDeployment({ replicas: 3 }));
    for (let index = 0; index < 3; index++) admit(world);
    scale(world, 10);
    expect(world.ledger.outstanding('uid-web', [], world.now)).toHaveLength(3);
    for (let index = 0; index < 7; index++) admit(world);
    const slots = world.ledger.outstanding('uid-web', [], world.now).map(({ slot }) => slot);
    expect(slots.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('case 38: 100 times 10 claims and the same number of pods: none is left over', () => {
    const ledger = createClaimLedger({ ttlMillis: TTL });
    const pods = [];
    for (let round = 0; round < 100; round++) {
      for (let index = 0; index < 10; index++) {
        const uid = `${round}-${index}`;
        ledger.claim(claim(uid, { side: index % 2 === 0 ? 'spot' : 'on-demand' }), answer);
        pods.push(podOf(uid));
      }
    }
    const standing = ledger.outstanding('w', [], 1);
    expect(standing.filter(({ side }) => side === 'spot')).toHaveLength(500);
    expect(standing.filter(({ side }) => side === 'on-demand')).toHaveLength(500);
    expect(ledger.outstanding('w', pods, 1)).toEqual([]);
  });
});

describe('claims under any interleaving', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ kind: 'admit' as const }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'dry-run' as const }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat() }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('appear' as const), which: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), which: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('scale' as const), replicas: fc.integer({ min: 0, max: 14 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), millis: fc.integer({ min: 1, max: 20_000 }) }),
    },
  );

  test('no two live pods or claims have one slot, and no pod is counted twice', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = createWorld(aDeployment({ replicas: 6 }));
        let coming: {
          readonly uid: string;
          readonly at: number;
          readonly decision: ReturnType<typeof admitSteered>;
        }[] = [];
        const known = new Map<string, ReturnType<typeof admitSteered>>();
        for (const each of steps) {
          if (each.kind === 'admit') {
            const decision = admitSteered(world);
            const uid = decision.stamps['spotalis.io/admission-id'] ?? '';
            coming.push({ uid, at: world.now, decision });
            known.set(uid, decision);
          } else if (each.kind === 'dry-run') {
            const before = world.ledger.size();
            admitSteered(world, { dryRun: true });
            expect(world.ledger.size()).toBeLessThanOrEqual(before);
          } else if (each.kind === 'repeat') {
            const again = coming[each.which % Math.max(1, coming.length)];
            if (again !== undefined) expect(admit(world, { uid: again.uid })).toBe(known.get(again.uid));
          } else if (each.kind === 'appear') {
            const [arrived] = coming.splice(each.which % Math.max(1, coming.length), 1);
            if (arrived !== undefined) world.pods.push(podFrom(world, arrived.decision));
          } else if (each.kind === 'delete') {
            world.pods.splice(each.which % Math.max(1, world.pods.length), 1);
          } else if (each.kind === 'scale') scale(world, each.replicas);
          else world.now += each.millis;
          // A pod whose claim has expired, or was taken over as doubtful, was denied and never comes.
          const standing = world.ledger.outstanding('uid-web', viewOf(world).podsOwnedBy('uid-web-rev1'), world.now);
          coming = coming.filter(({ uid }) => standing.some((claimed) => claimed.uid === uid));
          const slots = [...world.pods.map(({ slot }) => slot), ...standing.map(({ slot }) => slot)];
          expect(new Set(slots).size).toBe(slots.length);
          const seen = new Set(world.pods.map(({ admissionId }) => admissionId));
          expect(standing.filter(({ uid }) => seen.has(uid))).toEqual([]);
        }
      }),
      { numRuns: 1500 },
    );
  });
});
