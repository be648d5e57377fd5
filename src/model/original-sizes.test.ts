import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { originalsText, parseOriginals, resourcesBody } from './original-sizes.ts';
import { aContainer, MIB, smallSize } from './testing/sizing-records.ts';

test('amounts are canonical, and only those that are set', () => {
  expect(resourcesBody(smallSize)).toEqual({
    requests: { cpu: '200m', memory: '128Mi' },
    limits: { cpu: '400m', memory: '256Mi' },
  });
  expect(resourcesBody({ cpuRequest: 2000 })).toEqual({ requests: { cpu: '2' } });
  expect(resourcesBody({})).toEqual({});
});

test('rightsizing bug 7: memory has no fraction of a byte, whatever its amount', () => {
  expect(resourcesBody({ memoryLimit: 731_815_515 })).toEqual({ limits: { memory: '731815515' } });
});

test('for any sizes, what is kept is read back', () => {
  const amount = fc.option(fc.nat(2 ** 40), { nil: undefined });
  const size = fc
    .record({ cpuRequest: amount, cpuLimit: amount, memoryRequest: amount, memoryLimit: amount })
    .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('app', 'log', '__proto', 'a.b'), size), (sizes) => {
      const containers = Object.entries(sizes).map(([name, each]) => aContainer({ name, size: each }));
      const read = parseOriginals(originalsText(containers, false));
      expect(Object.fromEntries(read ?? [])).toEqual(sizes);
      const cpu = parseOriginals(originalsText(containers, true));
      for (const [name, { cpuRequest, cpuLimit }] of Object.entries(sizes))
        expect(cpu?.get(name)).toEqual({
          ...(cpuRequest !== undefined && { cpuRequest }),
          ...(cpuLimit !== undefined && { cpuLimit }),
        });
    }),
  );
});

describe('texts that are not ours', () => {
  test.each([
    '',
    'no json',
    '[]',
    '"text"',
    '{"app":1}',
    '{"app":{"requests":{"cpu":1}}}',
    '{"app":{"limits":{"memory":"much"}}}',
    '{"app":{"limits":{"memory":"-1"}}}',
  ])('%s', (text) => expect(parseOriginals(text)).toBeUndefined());

  test('what people write is read as Kubernetes reads it', () => {
    const text = JSON.stringify({ app: { requests: { cpu: '0.5', memory: '0.5Mi' } } });
    expect(parseOriginals(text)?.get('app')).toEqual({ cpuRequest: 500, memoryRequest: MIB / 2 });
  });
});
