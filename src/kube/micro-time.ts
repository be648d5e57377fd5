/** Kubernetes' MicroTime: RFC 3339 in UTC with exactly six fractional digits. */

/**
 * The API server decodes MicroTime with a fixed layout and answers 400 to the three digits of toISOString
 * (apimachinery meta/v1/micro_time.go, RFC3339Micro).
 * @param millis epoch milliseconds, of the years 0 to 9999.
 */
export function formatMicroTime(millis: number): string {
  return new Date(millis).toISOString().replace('Z', '000Z');
}
