/** Figures for people. */

/** `250m`, `1.5`: millicores below a core, cores from there. */
export function cpu(millis: number): string {
  return Math.abs(millis) < 1000 ? `${Math.round(millis)}m` : trimmed(millis / 1000);
}

/** `1.5 cores`, `250m CPU`. */
export function cores(millis: number): string {
  if (Math.abs(millis) < 1000) return `${Math.round(millis)}m CPU`;
  return millis === 1000 ? '1 core' : `${trimmed(millis / 1000)} cores`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytes(amount: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, Math.abs(amount))) / 10));
  return `${trimmed(amount / 1024 ** power)} ${units[power]}`;
}

/** Three significant digits, no zeros at the end. */
function trimmed(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

/** `$12.30`, `-$0.0412`: two digits from a dollar up, else four. */
export function dollars(amount: number): string {
  const text = Math.abs(amount).toFixed(Math.abs(amount) >= 1 ? 2 : 4);
  return `${amount < 0 && Number(text) !== 0 ? '-' : ''}$${text}`;
}

/** Mean hours of a month: 365 days / 12. */
export const monthly = (perHour: number): string => `$${Math.round(perHour * 730).toLocaleString('en-US')}`;

export function percent(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${Math.round((100 * part) / whole)} %`;
}

/** Of a share, 0..1: `12 %`, `0.4 %`, `less than 0.1 %`. */
export function shareText(share: number): string {
  const percents = 100 * share;
  if (percents > 0 && percents < 0.1) return 'less than 0.1 %';
  return `${Number(percents.toFixed(percents < 10 ? 1 : 0))} %`;
}

export const count = (amount: number): string => amount.toLocaleString('en-US');

/** `3 pods`, `1 pod`. */
export function counted(amount: number, noun: string): string {
  return `${count(amount)} ${amount === 1 ? noun : `${noun}s`}`;
}

/** `just now`, `42 s ago`, `3 min ago`, `5 h ago`, `2 d ago`. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 2) return 'just now';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 36 * 3600 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} d ago`;
}

/** `13:05:09`, by the browser's own time zone. */
export function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

export const isoTime = (at: number): string => new Date(at).toISOString();
