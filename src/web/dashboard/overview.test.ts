import { describe, expect, test } from 'vitest';
import { operatorTold } from './overview.ts';

const operator = () => ({
  identity: 'a',
  isLeader: true,
  readOnly: false,
  engines: { placement: true, rightsizing: true, allocation: false },
});
const view = { freshness: () => ({ synced: true, stale: ['pods'] }) };

describe('what is told of the operator', () => {
  test('stores whose watch is broken are told, those of the engines that size, too', () => {
    const sizingView = { freshness: () => ({ synced: false, stale: ['pods', 'limit ranges'] }) };
    expect(operatorTold({ operator, view, sizingView })).toMatchObject({
      synced: false,
      stale: ['pods', 'limit ranges'],
    });
    expect(operatorTold({ operator, view, sizingView: undefined })).toMatchObject({ synced: true, stale: ['pods'] });
  });
});
