/** Where pods of the chart run, and how one takes the place of another. */
import { describe, expect, test } from 'vitest';
import { isWorkload, podSpecOf } from './pod-specs.ts';
import { at, CHART, findHelm, render, theOnly } from './render.ts';

const { programs, missing } = await findHelm();

describe.skipIf(missing !== undefined)('with helm', () => {
  test('is on the network of its node only where that is asked for', () => {
    const specWith = (...set: readonly string[]) => podSpecOf(theOnly(render(programs, { set }), 'Deployment'));
    expect(at(specWith(), 'hostNetwork')).toBeUndefined();
    expect(at(specWith(), 'dnsPolicy')).toBeUndefined();
    expect(specWith('hostNetwork=true')).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  });

  test('is replaced by one more pod first; on the network of nodes by one less, as there may be no other node with free ports', () => {
    const strategyWith = (...set: readonly string[]) =>
      at(theOnly(render(programs, { set }), 'Deployment'), 'spec.strategy');
    const rolling = (maxSurge: number, maxUnavailable: number) => ({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge, maxUnavailable },
    });
    expect(strategyWith()).toEqual(rolling(1, 0));
    expect(strategyWith('hostNetwork=true')).toEqual(rolling(0, 1));
    expect(strategyWith('hostNetwork=true', 'strategy.rollingUpdate.maxSurge=2')).toEqual({
      rollingUpdate: { maxSurge: 2 },
    });
    expect(strategyWith('strategy.type=Recreate')).toEqual({ type: 'Recreate' });
  });

  test('without leader election it ends before the next one begins, as both would act; unless a strategy says otherwise', () => {
    const strategyWith = (...set: readonly string[]) =>
      at(theOnly(render(programs, { set }), 'Deployment'), 'spec.strategy');
    const alone = ['replicaCount=1', 'config.operator.leaderElection.enabled=false'];
    expect(strategyWith(...alone)).toEqual({ type: 'Recreate' });
    expect(strategyWith('replicaCount=1')).toMatchObject({ type: 'RollingUpdate' });
    expect(strategyWith('config.operator.leaderElection.enabled=false')).toMatchObject({ type: 'RollingUpdate' });
    expect(strategyWith(...alone, 'strategy.rollingUpdate.maxSurge=0')).toEqual({ rollingUpdate: { maxSurge: 0 } });
  });

  test('no pod of it is sent to a Windows node, where its image does not run', () => {
    const pods = render(programs, { values: [`${CHART}/ci/all-engines.yaml`], set: ['nodeSelector.pool=system'] });
    const selectors = pods.filter(isWorkload).map((pod) => [pod.kind, at(podSpecOf(pod), 'nodeSelector')]);
    const linux = { 'kubernetes.io/os': 'linux' };
    expect(Object.fromEntries(selectors)).toEqual({
      Deployment: { ...linux, pool: 'system' },
      DaemonSet: linux,
      Pod: { ...linux, pool: 'system' },
    });
  });

  test('keeps itself off spot nodes of every cloud', () => {
    const affinityOf = (set: readonly string[]) =>
      at(podSpecOf(theOnly(render(programs, { set }), 'Deployment')), 'affinity.nodeAffinity');
    expect(
      at(affinityOf([]), 'preferredDuringSchedulingIgnoredDuringExecution.0.preference.matchExpressions'),
    ).toContainEqual({ key: 'karpenter.sh/capacity-type', operator: 'NotIn', values: ['spot'] });
    expect(
      at(
        affinityOf(['onDemandAffinity=required']),
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0',
      ),
    ).toHaveProperty('matchExpressions');
    expect(affinityOf(['onDemandAffinity=none'])).toBeUndefined();
  });
});
