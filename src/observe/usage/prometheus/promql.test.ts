import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkLabels,
  defaultLabelNames,
  fillTemplate,
  MAX_QUERY_BYTES,
  type QueryInput,
  quote,
  usageQueries,
} from './promql.ts';

const input: QueryInput = {
  namespace: 'shop',
  podPattern: 'web-[a-z]{5}',
  containers: ['app', 'proxy'],
  labels: {},
  names: defaultLabelNames,
  rateMillis: 120_000,
  stepMillis: 60_000,
  scrapeMillis: 30_000,
};

describe('questions', () => {
  test('CPU: a rate of the policy of scrapes, duplicates made one', () => {
    expect(usageQueries(input).cpu).toBe(
      'max by (pod, container) (rate(container_cpu_usage_seconds_total{namespace="shop",pod=~"web-[a-z]{5}",container=~"app|proxy",cpu=~"total|"}[120s]))',
    );
  });

  test('rightsizing bug 29: memory between two steps is seen, too', () => {
    expect(usageQueries(input).memory).toBe(
      'max by (pod, container) (max_over_time(container_memory_working_set_bytes{namespace="shop",pod=~"web-[a-z]{5}",container=~"app|proxy"}[60s]))',
    );
    expect(usageQueries({ ...input, stepMillis: 30_000 }).memory).toBe(
      'max by (pod, container) (container_memory_working_set_bytes{namespace="shop",pod=~"web-[a-z]{5}",container=~"app|proxy"})',
    );
  });

  test('labels may have other names, and the policy may ask for more of them', () => {
    const names = { namespace: 'kubernetes_namespace', pod: 'pod_name', container: 'container_name' };
    expect(usageQueries({ ...input, names, labels: { cluster: 'eu-1' }, stepMillis: 30_000 }).memory).toBe(
      'max by (pod_name, container_name) (container_memory_working_set_bytes{kubernetes_namespace="shop",pod_name=~"web-[a-z]{5}",container_name=~"app|proxy",cluster="eu-1"})',
    );
  });

  test('rightsizing bug 30: a pod with hundreds of containers is asked for as a whole', () => {
    const containers = Array.from({ length: 500 }, (_, index) => `container-of-some-length-${index}`);
    const { cpu } = usageQueries({ ...input, containers });
    expect(cpu).toContain('container!="",container!="POD"');
    expect(Buffer.byteLength(cpu)).toBeLessThan(MAX_QUERY_BYTES);
    expect(usageQueries({ ...input, containers: [] }).cpu).toContain('container!=""');
  });

  test('for any label value, the question has the same shape: nothing breaks out of its quotes', () => {
    const shape = (query: string) => query.replace(/"(?:[^"\\]|\\.)*"/g, '""');
    const plain = shape(usageQueries({ ...input, labels: { cluster: 'x' } }).cpu);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const query = usageQueries({ ...input, namespace: value, podPattern: value, labels: { cluster: value } }).cpu;
        expect(shape(query)).toBe(plain);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['plain', '"plain"'],
    ['a "b" \\ c', '"a \\"b\\" \\\\ c"'],
    ['line\nbreak', '"line\\nbreak"'],
    ['\ud800', '"\ufffd"'],
  ])('quoted: %j', (text, expected) => {
    expect(quote(text)).toBe(expected);
  });

  test.each([
    ['cluster', undefined],
    ['_x1', undefined],
    ['1x', 'the label "1x"'],
    ['a-b', 'the label "a-b"'],
    ['', 'the label ""'],
    ['x="",y', 'the label "x=\\"\\",y"'],
  ])('label %j', (name, problem) => {
    const found = checkLabels({ [name]: 'v' });
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});

describe('templates', () => {
  test('placeholders are filled, escaped for a string, and others stay', () => {
    const template =
      'sum by (pod) (rate(my_cpu{ns="$namespace",pod=~"$pods",c=~"$containers"}[$rate])) / $stepped $step';
    expect(fillTemplate(template, { ...input, podPattern: 'w\\.b-[0-9]+' })).toBe(
      'sum by (pod) (rate(my_cpu{ns="shop",pod=~"w\\\\.b-[0-9]+",c=~"app|proxy"}[120s])) / $stepped 60s',
    );
  });

  test('what is put in is never a placeholder itself', () => {
    expect(fillTemplate('"$namespace" "$pods"', { ...input, namespace: '$pods', podPattern: '$rate' })).toBe(
      '"$pods" "$rate"',
    );
  });
});
