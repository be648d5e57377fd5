/** Server-side apply. */
import type { Patch } from '../../api/kube-api.ts';
import type { JsonObject } from './json.ts';
import type { Target } from './operations.ts';
import type { WriteContext } from './request.ts';
import { badRequest } from './status-error.ts';

export interface ApplyRules {
  readonly placeholder?: never;
}

export async function applyObject(
  _rules: ApplyRules,
  _target: Target,
  _patch: Patch & { type: 'apply' },
  _context: WriteContext,
): Promise<{ object: JsonObject; created: boolean }> {
  throw badRequest('apply is not served yet');
}
