/**
 * Histograms as short text, to be kept where the operator keeps its memory: what is read back is bit for bit what was
 * written.
 */
import { InvalidValueError } from './errors.ts';
import type { HistogramState } from './histogram.ts';

/** Version of the text; others are refused rather than misread. */
const VERSION = 'h1';
const REFERENCE_BYTES = 8;
/** A bucket's number (16 bits) and its weight (32 bits, as the histogram holds it). */
const ENTRY_BYTES = 6;
const ACCEPTED = `${VERSION}: followed by base64, as written by Stowage`;

/** About 8 characters for each bucket with weight, plus 15. */
export function encodeHistogram({ referenceMillis, buckets }: HistogramState): string {
  const bytes = new DataView(new ArrayBuffer(REFERENCE_BYTES + ENTRY_BYTES * buckets.length));
  bytes.setFloat64(0, referenceMillis);
  for (const [place, [index, weight]] of buckets.entries()) {
    bytes.setUint16(REFERENCE_BYTES + ENTRY_BYTES * place, index);
    bytes.setFloat32(REFERENCE_BYTES + ENTRY_BYTES * place + 2, weight);
  }
  return `${VERSION}:${Buffer.from(bytes.buffer).toString('base64')}`;
}

/** @throws InvalidValueError for text that was not written by {@link encodeHistogram}, or was cut or changed since. */
export function decodeHistogram(text: string): HistogramState {
  const refuse = (): never => {
    throw new InvalidValueError('saved histogram', text.length > 40 ? `${text.slice(0, 40)}...` : text, ACCEPTED);
  };
  if (!text.startsWith(`${VERSION}:`)) return refuse();
  const raw = Buffer.from(text.slice(VERSION.length + 1), 'base64');
  if (raw.length < REFERENCE_BYTES || (raw.length - REFERENCE_BYTES) % ENTRY_BYTES !== 0) return refuse();

  const bytes = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const referenceMillis = bytes.getFloat64(0);
  if (!Number.isFinite(referenceMillis)) return refuse();
  const buckets: [number, number][] = [];
  let previous = -1;
  for (let offset = REFERENCE_BYTES; offset < raw.length; offset += ENTRY_BYTES) {
    const index = bytes.getUint16(offset);
    const weight = bytes.getFloat32(offset + 2);
    if (index <= previous || !(weight > 0) || !Number.isFinite(weight)) return refuse();
    buckets.push([index, weight]);
    previous = index;
  }
  return { referenceMillis, buckets };
}
