/**
 * The order of the size guards, in one place. The first objection is the one reported, so the order is that of explanation.
 */
import type { SizeRule } from './context.ts';
import { engineOn, fresh, leading, mayWrite, warmedUp } from './rules/operator-state.ts';

export const sizeRules: readonly SizeRule[] = [engineOn, mayWrite, leading, fresh, warmedUp];
