import { describe, expect, test } from 'vitest';
import { aDeployment, aStatefulSet } from '../../model/testing/records.ts';
import { admit, admitSteered, createWorld, run } from './testing/world.ts';

describe('requests that must not count twice', () => {
  test('hazard H16: the same uid gets the same answer', () => {
    const world = createWorld(aDeployment());
    const first = admit(world, { uid: 'u' });
    expect(admit(world, { uid: 'u' })).toBe(first);
    expect(world.ledger.size()).toBe(1);
    expect(admitSteered(world).slot).toBe(2);
  });

  test('case 32: hazard H16: a dry run is decided and reserves nothing', () => {
    const world = createWorld(aDeployment());
    const dry = admitSteered(world, { dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, slot: 1 });
    expect(dry.patch.length).toBeGreaterThan(0);
    expect(world.ledger.size()).toBe(0);
    expect(admitSteered(world).slot).toBe(1);
  });

  test('case 33: read-only patches and reserves nothing, and says what would have been', () => {
    const world = createWorld(aDeployment(), { readOnly: true });
    expect(admit(world)).toMatchObject({
      kind: 'unsteered',
      reason: 'ReadOnly',
      warn: false,
      wouldBe: { slot: 1, side: 'on-demand' },
    });
    expect(world.ledger.size()).toBe(0);
  });

  test('hazard H16: called again for a pod it stamped, under a new uid: no patch, the claim stands', () => {
    const world = createWorld(aDeployment());
    admit(world, { uid: 'first' });
    const stamp = { slot: 1, capacity: 'on-demand', admissionId: 'first', unconfirmed: false } as const;
    expect(admit(world, { pod: { stamp } })).toMatchObject({ kind: 'unsteered', reason: 'AlreadyStamped' });
    expect(world.ledger.size()).toBe(1);
    expect(admitSteered(world).slot).toBe(2);
  });

  test('a stamp of another replica of the webhook is counted here as well, but not for a dry run', () => {
    const world = createWorld(aDeployment());
    const stamp = { slot: 1, capacity: 'on-demand', admissionId: 'elsewhere', unconfirmed: false } as const;
    admit(world, { pod: { stamp }, dryRun: true });
    expect(world.ledger.size()).toBe(0);
    admit(world, { pod: { stamp } });
    expect(admitSteered(world).slot).toBe(2);
  });

  test('nor where nothing may be written, nor for a StatefulSet, whose slots are its ordinals', () => {
    const stamp = { slot: 1, capacity: 'on-demand', admissionId: 'elsewhere', unconfirmed: false } as const;
    const readOnly = createWorld(aDeployment(), { readOnly: true });
    admit(readOnly, { pod: { stamp } });
    const set = createWorld(aStatefulSet());
    admit(set, { pod: { stamp, name: 'db-0' } });
    expect([readOnly.ledger.size(), set.ledger.size()]).toEqual([0, 0]);
  });

  test('a stamp said again leaves the claim as it was: it is no older and no younger', () => {
    const world = createWorld(aDeployment());
    const stamp = { slot: 3, capacity: 'spot', admissionId: 'first', unconfirmed: false } as const;
    admit(world, { uid: 'first' });
    admit(world, { pod: { stamp } });
    // The claim of the first answer stands, whatever the stamp says by now.
    expect(admitSteered(world).slot).toBe(2);
  });

  test('hazard H13: the request of another replica, repeated here without its stamp, is steered all the same', () => {
    const world = createWorld(aDeployment());
    const stamp = { slot: 1, capacity: 'on-demand', admissionId: 'elsewhere', unconfirmed: false } as const;
    admit(world, { pod: { stamp } });
    expect(admitSteered(world, { uid: 'elsewhere' }).patch.length).toBeGreaterThan(0);
  });

  test('a stamp copied from a live pod into the template says nothing', () => {
    const world = createWorld(aDeployment());
    const pod = run(world);
    const stamp = { slot: 1, capacity: 'on-demand', admissionId: pod.admissionId ?? '', unconfirmed: false } as const;
    expect(admitSteered(world, { pod: { stamp } }).slot).toBe(2);
  });
});
