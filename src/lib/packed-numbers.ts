/** Lists of whole numbers in as few bytes as their digits need, one text for all: what is kept by thousands and seldom read. */

/** A byte has seven bits of a number, the lowest first; above them is a bit for "more of it follows". */
const MORE = 128;

/** @param numbers whole and not below 0. */
export function packNumbers(numbers: Iterable<number>): string {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes.push(MORE + (rest % MORE));
    bytes.push(rest);
  }
  return Buffer.from(bytes).toString('latin1');
}

/** The numbers that were packed. */
export function unpackNumbers(packed: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let unit = 1;
  for (let at = 0; at < packed.length; at++) {
    const byte = packed.charCodeAt(at);
    if (byte >= MORE) {
      number += (byte - MORE) * unit;
      unit *= MORE;
      continue;
    }
    numbers.push(number + byte * unit);
    number = 0;
    unit = 1;
  }
  return numbers;
}
