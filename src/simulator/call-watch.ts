/** Ends simulations in which somebody calls the API again and again at one instant: such a loop waits for no timer, so time would not move on. */
import type { FaultPlan } from '../cluster/faults/fault-plan.ts';
import { callerIn, StandstillError } from '../lib/standstill.ts';
import type { VirtualClock } from '../lib/virtual-clock.ts';

/** Thousands of pods may be made, bound and reported of before any timer fires; each of these calls comes by a few times. */
const MOST_IN_ONE_TURN = 2_000_000;

/** Watches from now on. @param most times that requests may come by in one turn of the clock */
export function watchCalls(
  faults: Pick<FaultPlan, 'add' | 'onMeet'>,
  clock: Pick<VirtualClock, 'now' | 'turn' | 'halt'>,
  most = MOST_IN_ONE_TURN,
): void {
  let turn = clock.turn();
  let count = 0;
  faults.onMeet(({ user, verb, resource, subresource }) => {
    if (clock.turn() !== turn) {
      turn = clock.turn();
      count = 0;
    }
    if (++count !== most) return;
    const path = subresource === '' ? resource : `${resource}/${subresource}`;
    const caller = callerIn(new Error('place').stack);
    const what = `the API is called without end, last by ${user} to ${verb} ${path}: ${caller}`;
    clock.halt(new StandstillError(clock.now(), what));
    // Nobody gets an answer any more: nothing else ends a loop that waits for answers alone.
    faults.add({ effect: { kind: 'freeze' } });
  });
}
