import { describe, expect, test } from 'vitest';
import { ago, bytes, cores, counted, cpu, dollars, percent, shareText } from './format.ts';

describe('figures for people', () => {
  test.each([
    [0, '0m'],
    [250.4, '250m'],
    [1000, '1'],
    [1255, '1.25'],
    [12_340, '12.3'],
    [128_000, '128'],
    [-1500, '-1.5'],
  ])('%d millicores are %s', (millis, text) => {
    expect(cpu(millis)).toBe(text);
  });

  test.each([
    [500, '500m CPU'],
    [1000, '1 core'],
    [2500, '2.5 cores'],
  ])('%d millicores in words are %s', (millis, text) => {
    expect(cores(millis)).toBe(text);
  });

  test.each([
    [0, '0 B'],
    [512, '512 B'],
    [1024 ** 2, '1 MiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [-(2 * 1024 ** 3), '-2 GiB'],
    [3 * 1024 ** 5, '3072 TiB'],
  ])('%d bytes are %s', (amount, text) => {
    expect(bytes(amount)).toBe(text);
  });

  test.each([
    [12.3, '$12.30'],
    [0.0412, '$0.0412'],
    [-0.00001, '$0.0000'],
    [-2, '-$2.00'],
  ])('%d dollars are %s', (amount, text) => {
    expect(dollars(amount)).toBe(text);
  });

  test.each([
    [1000, 'just now'],
    [42_000, '42 s ago'],
    [180_000, '3 min ago'],
    [5 * 3_600_000, '5 h ago'],
    [3 * 86_400_000, '3 d ago'],
    [-5000, 'just now'],
  ])('%d ms before is %s', (millis, text) => {
    expect(ago(10_000_000_000 - millis, 10_000_000_000)).toBe(text);
  });

  test.each([
    [0, '0 %'],
    [0.0004, 'less than 0.1 %'],
    [0.004, '0.4 %'],
    [0.1234, '12 %'],
    [1, '100 %'],
  ])('a share of %d is %s', (share, text) => {
    expect(shareText(share)).toBe(text);
  });

  test('shares and counts', () => {
    expect([percent(1, 3), percent(1, 0), counted(1, 'pod'), counted(10_000, 'pod')]).toEqual([
      '33 %',
      '0 %',
      '1 pod',
      '10,000 pods',
    ]);
  });
});
