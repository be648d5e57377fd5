import { expect } from 'vitest';
import type { Answer } from './endpoint.ts';

/** The answer refuses an object for these faults and no others. */
export function expectCauses(
  { status, body }: Answer,
  causes: readonly { field: string; reason?: string; message?: string }[],
): void {
  expect(status).toBe(422);
  expect(body).toMatchObject({ reason: 'Invalid', details: { causes } });
}
