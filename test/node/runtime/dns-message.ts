/** Questions and answers of the domain name system (RFC 1035), as far as pods ask for addresses of Services. */

export interface DnsQuestion {
  /** Lower case, without the dot at its end. */
  readonly name: string;
  readonly isAddress: boolean;
}

const HEADER = 12;
const TYPE_A = 1;
const CLASS_IN = 1;
/** A response, authoritative, recursion as desired. */
const ANSWERED = 0x8580;
const NO_SUCH_NAME = 3;
const TTL_SECONDS = 5;

/** @returns undefined for what is no single question. */
export function readQuestion(message: Buffer): DnsQuestion | undefined {
  if (message.length < HEADER || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at++;
    if (length === 0) break;
    labels.push(message.toString('latin1', at, at + length).toLowerCase());
    at += length;
  }
  if (at + 4 > message.length) return undefined;
  const isAddress = message.readUInt16BE(at) === TYPE_A && message.readUInt16BE(at + 2) === CLASS_IN;
  return { name: labels.join('.'), isAddress };
}

/**
 * @param question a message that {@link readQuestion} understands.
 * @param address IPv4; `none` for a name that has no address of the kind asked for; undefined for a name that does not exist.
 */
export function answer(question: Buffer, address: string | undefined): Buffer {
  const end = question.indexOf(0, HEADER) + 5;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(ANSWERED | (address === undefined ? NO_SUCH_NAME : 0), 2);
  const hasAddress = address !== undefined && address !== 'none';
  head.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // No authorities, and no additional records, whatever was sent along.
  head.writeUInt32BE(0, 8);
  if (!hasAddress) return head;
  const record = Buffer.alloc(16);
  // The name: as in the question.
  record.writeUInt16BE(0xc000 | HEADER, 0);
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of address.split('.').entries()) record.writeUInt8(Number(part), 12 + index);
  return Buffer.concat([head, record]);
}
