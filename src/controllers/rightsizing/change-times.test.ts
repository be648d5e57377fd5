import { describe, expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { ChangeTimes } from './change-times.ts';

const HOUR = 3_600_000;
const cpu = { container: 'app', resource: 'cpu' } as const;
const memory = { container: 'app', resource: 'memory' } as const;

describe('when a resource was last changed', () => {
  test('is told by whoever did, of that resource alone', () => {
    const times = new ChangeTimes();
    times.noteChanged([cpu], NOON);
    expect([times.lastChange(cpu), times.lastChange(memory)]).toEqual([NOON, undefined]);
  });

  test('is when the last leader put anything in force, whatever this one has changed of others since', () => {
    const times = new ChangeTimes();
    times.resume(NOON, 'InPlace', NOON);
    times.noteChanged([cpu], NOON + HOUR);
    times.noteApplied(NOON + HOUR, 'InPlace');
    // At each look what the workload says is handed in anew.
    times.resume(NOON + HOUR, 'InPlace', NOON + HOUR);
    expect([times.lastChange(cpu), times.lastChange(memory)]).toEqual([NOON + HOUR, NOON]);
    expect(times.lastApplied).toBe(NOON + HOUR);
  });

  test('is not known of others where this leader was the first to change something', () => {
    const times = new ChangeTimes();
    times.resume(undefined, undefined, undefined);
    times.noteChanged([cpu], NOON);
    times.resume(NOON, 'InPlace', NOON);
    expect(times.lastChange(memory)).toBeUndefined();
  });

  test('is not known of a workload whose name another had', () => {
    const times = new ChangeTimes();
    times.resume(NOON, 'InPlace', undefined);
    expect([times.lastChange(cpu), times.lastApplied]).toEqual([undefined, NOON]);
  });
});

describe('replicas that have sizes of their own', () => {
  test('have times of their own, too, of each resource', () => {
    const times = new ChangeTimes();
    times.noteChanged([memory], NOON + HOUR);
    times.ofReplica('0', NOON).noteChanged([cpu], NOON + 2 * HOUR);
    const of = (replica: string, told?: number) => {
      const own = times.ofReplica(replica, told);
      return [own.lastChange(cpu), own.lastChange(memory)];
    };
    // What the workload says of it by now is what was done since.
    expect(of('0', NOON + 2 * HOUR)).toEqual([NOON + 2 * HOUR, NOON]);
    expect(of('1')).toEqual([undefined, undefined]);
  });

  test('are forgotten when they have none', () => {
    const times = new ChangeTimes();
    for (const replica of ['0', '1']) times.ofReplica(replica, undefined).noteChanged([cpu], NOON);
    times.keepReplicas(new Map([['1', 'sized']]));
    expect(['0', '1'].map((replica) => times.ofReplica(replica, undefined).lastChange(cpu))).toEqual([undefined, NOON]);
  });
});
