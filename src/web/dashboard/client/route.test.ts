import { describe, expect, test } from 'vitest';
import { linkTo, parseRoute } from './route.ts';

describe('addresses', () => {
  test.each([
    ['', 'overview', ''],
    ['#/', 'overview', ''],
    ['#/nowhere', 'overview', ''],
    ['#/workloads?state=drifted', 'workloads', ''],
    ['#/workload/Deployment/shop/web', 'workload', 'Deployment/shop/web'],
    ['#/workload/Deployment', 'workloads', ''],
    ['#/workload/a/b/%E0%A4%A', 'workload', 'a/b/%E0%A4%A'],
    ['#/nodes', 'nodes', ''],
    ['#/policies', 'policies', ''],
    ['#/simulations', 'simulations', ''],
    ['#/simulation/spot-storm.json', 'simulation', 'spot-storm.json'],
    ['#/simulation', 'simulations', ''],
  ])('%j shows %s %s', (hash, page, subject) => {
    expect(parseRoute(hash)).toMatchObject({ page, subject });
  });

  test('what a link says is what is shown', () => {
    const link = linkTo('workloads', '', { q: 'a b&c', state: '', page: '2' });
    expect(link).toBe('#/workloads?q=a+b%26c&page=2');
    expect(Object.fromEntries(parseRoute(link).params)).toEqual({ q: 'a b&c', page: '2' });
    expect(parseRoute(linkTo('workload', 'Deployment/shop/we b')).subject).toBe('Deployment/shop/we b');
    expect(linkTo('overview')).toBe('#/');
  });
});
