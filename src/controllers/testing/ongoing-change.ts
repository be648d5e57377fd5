/** A change under watch, as tests need one: all pods are to have it. */
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { NOON } from '../../model/testing/records.ts';
import { nothingSeen } from '../rightsizing/throttling.ts';
import type { OngoingChange } from '../rightsizing/watches.ts';

/** Begun at noon. @param before what the containers had until then. */
export function anOngoingChange(
  changes: readonly SizeChange[],
  before: readonly ContainerSpecRecord[],
  differs: Partial<OngoingChange> = {},
): OngoingChange {
  return {
    ...watchChange(changes, before, [], NOON),
    method: 'InPlace',
    phase: 'spread',
    canary: undefined,
    throttling: nothingSeen(),
    ...differs,
  };
}
