import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, SelectorExpression } from './records.ts';
import { namesNodes } from './volume-reach.ts';

const term = (key: string, operator: SelectorExpression['operator'] = 'In'): NodeSelectorTerm => ({
  expressions: [{ key, operator, values: ['one'] }],
  fields: [],
});

describe('whether a volume names the nodes it can be reached from', () => {
  test.each([
    'kubernetes.io/hostname',
    'linbit.com/hostname',
    'topology.topolvm.io/node',
    'topology.hostpath.csi/node',
    'openebs.io/nodename',
    'openebs.io/nodeid',
    'directpv.min.io/node',
    'example.com/node-name',
    'host',
  ])('%s does', (key) => {
    expect(namesNodes([term(key)])).toBe(true);
  });

  test.each([
    'topology.kubernetes.io/zone',
    'topology.kubernetes.io/region',
    'topology.ebs.csi.aws.com/zone',
    'topology.gke.io/zone',
    'topology.disk.csi.azure.com/zone',
    'csi.hetzner.cloud/location',
    'node.kubernetes.io/instance-type',
    'kubernetes.io/arch',
    'example.com/nodepool',
    'example.com/ghost',
  ])('%s does not: nodes to come may carry it', (key) => {
    expect(namesNodes([term(key)])).toBe(false);
  });

  test('a name among other demands does; excluding some nodes names none', () => {
    const zone = term('topology.kubernetes.io/zone').expressions;
    expect(namesNodes([{ expressions: [...zone, ...term('kubernetes.io/hostname').expressions], fields: [] }])).toBe(
      true,
    );
    expect(namesNodes([term('kubernetes.io/hostname', 'NotIn')])).toBe(false);
  });

  test('a field names a node: metadata.name is the only one there is', () => {
    const fields = [{ key: 'metadata.name', operator: 'In', values: ['n1'] } as const];
    expect(namesNodes([{ expressions: [], fields }])).toBe(true);
  });

  test('terms are ORed: one that any node may meet is a way out', () => {
    expect(namesNodes([term('kubernetes.io/hostname'), term('topology.kubernetes.io/zone')])).toBe(false);
    expect(namesNodes([term('kubernetes.io/hostname'), term('topology.topolvm.io/node')])).toBe(true);
  });
});
