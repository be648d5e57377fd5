/** Names under which the engines write sizes. */
import type { SizingEngine } from '../decide/size-decision.ts';

/** Owners of the written fields in managedFields: the names the public systems have. */
export const sizeManagers: Readonly<Record<SizingEngine, string>> = {
  rightsizing: 'optipod',
  allocation: 'mbcas-controller',
};
