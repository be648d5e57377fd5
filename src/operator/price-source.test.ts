import { describe, expect, test, vi } from 'vitest';
import type { PriceTable } from '../api/prices.ts';
import { ConfigError } from '../lib/errors.ts';
import { createLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createPriceSource } from './price-source.ts';

const table = (price: number): string => `instanceTypes: { a: { onDemand: ${price} } }`;

async function following(firstPath = '/prices.yaml') {
  const clock = createVirtualClock(0);
  const records: string[] = [];
  const files = new Map<string, string>();
  const found: (PriceTable | undefined)[] = [];
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => void records.push(line) });
  const read = (path: string): string => {
    const text = files.get(path);
    if (text === undefined) throw new ConfigError([`failed to read prices file ${path}`]);
    return text;
  };
  const source = createPriceSource({
    path: firstPath,
    clock,
    log,
    read,
    onChange: (prices) => void found.push(prices),
  });
  const ending = new AbortController();
  return {
    files,
    found,
    source,
    start: () => void source.run(ending.signal),
    pass: () => clock.advance(10_000),
    errors: () => records.filter((line) => line.includes('"level":"error"')),
    end: () => ending.abort(),
  };
}

describe('the price source', () => {
  test('reads at once, and again when the text changes', async () => {
    const { files, found, start, pass, end } = await following();
    files.set('/prices.yaml', table(1));
    start();
    await pass();
    files.set('/prices.yaml', table(2));
    await pass();
    await pass();
    expect(found).toEqual([1, 2].map((onDemand) => ({ instanceTypes: { a: { onDemand } } })));
    end();
  });

  test('a file that is not valid is told once, with its line, and changes nothing', async () => {
    const { files, found, start, pass, errors, end } = await following();
    files.set('/prices.yaml', table(1));
    start();
    files.set('/prices.yaml', 'instanceTypes:\n  a: { onDemand: cheap }');
    await pass();
    await pass();
    expect(found).toHaveLength(1);
    expect(errors()).toHaveLength(1);
    expect(errors()[0]).toContain('/prices.yaml:2: instanceTypes: a: onDemand is not a number');
    files.set('/prices.yaml', table(3));
    await pass();
    expect(found).toHaveLength(2);
    end();
  });

  test('a file that is not there is told once and found when it comes', async () => {
    const { files, found, start, pass, errors, end } = await following();
    start();
    await pass();
    await pass();
    expect(errors()).toHaveLength(1);
    files.set('/prices.yaml', table(1));
    await pass();
    expect(found).toHaveLength(1);
    end();
  });

  test('another path replaces the prices, no path forgets them', async () => {
    const { files, found, source, start } = await following();
    files.set('/prices.yaml', table(1)).set('/other.yaml', table(2));
    start();
    source.use('/other.yaml');
    source.use('/other.yaml');
    source.use('');
    expect(found.map((prices) => prices?.instanceTypes['a']?.onDemand)).toEqual([1, undefined, 2, undefined]);
  });

  test('without a path nothing is read', async () => {
    const read = vi.fn<(path: string) => string>();
    const clock = createVirtualClock(0);
    const log = createLogger({ level: 'info', format: 'json', clock, write: () => {} });
    const source = createPriceSource({ path: '', clock, log, read, onChange: () => {} });
    const ending = new AbortController();
    const ended = source.run(ending.signal);
    await clock.advance(60_000);
    ending.abort();
    await ended;
    expect(read).not.toHaveBeenCalled();
  });
});
