/** All arms, in the order of the table. */
import type { Arm } from './arm.ts';
import { staticArms } from './arms/static-arms.ts';
import { stowageArms } from './arms/stowage-arms.ts';
import { throttleTargetArm } from './arms/throttle-target-arm.ts';
import { usageArms } from './arms/usage-arms.ts';

export const labArms: readonly Arm[] = [...staticArms, ...usageArms, throttleTargetArm, ...stowageArms];
