import { describe, expect, test } from 'vitest';
import { decodeProtobuf } from './protobuf.ts';

/** A length-delimited field. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])),
    field(2, raw),
  ]);
}

describe('protobuf bodies', () => {
  test('an eviction with grace period, precondition and dry run', () => {
    const options = Buffer.concat([Buffer.from([1 << 3, 0xac, 0x02]), field(2, field(1, 'uid-1')), field(5, 'All')]);
    const raw = Buffer.concat([
      field(1, Buffer.concat([field(1, 'p1'), field(3, 'default'), field(4, 'unknown')])),
      field(2, options),
    ]);
    expect(decodeProtobuf(envelope('policy/v1', 'Eviction', raw))).toEqual({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p1', namespace: 'default' },
      deleteOptions: { gracePeriodSeconds: 300, preconditions: { uid: 'uid-1' }, dryRun: ['All'] },
    });
  });

  test('an access review; empty texts are absent', () => {
    const attributes = Buffer.concat([field(1, 'ns'), field(2, 'delete'), field(3, ''), field(5, 'pods')]);
    expect(
      decodeProtobuf(envelope('authorization.k8s.io/v1', 'SelfSubjectAccessReview', field(2, field(1, attributes)))),
    ).toMatchObject({
      spec: { resourceAttributes: { namespace: 'ns', verb: 'delete', resource: 'pods' } },
    });
  });

  test.each([
    ['no magic bytes', Buffer.from('{}'), 400],
    ['cut short', envelope('policy/v1', 'Eviction', field(1, 'x')).subarray(0, 30), 400],
    ['another kind', envelope('v1', 'Pod', Buffer.alloc(0)), 415],
  ])('%s is refused', (_, bytes, httpStatus) => {
    expect(() => decodeProtobuf(bytes)).toThrow(expect.objectContaining({ httpStatus }));
  });
});
