import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { findCondition } from '#machinery';
import { startCluster } from '#testing';

const POD = (name: string, { cpu = '0', more = '' }) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: kube-system }
spec: { nodeName: n1, terminationGracePeriodSeconds: 2, ${more} containers: [{ name: c, image: app:1, resources: { requests: { cpu: '${cpu}' } } }] }
`;
const CRITICAL = 'priorityClassName: system-node-critical,';

describe('a critical pod on a full node', () => {
  it('has the kubelet end a pod that makes room for it', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    const pods = cluster.client.of(core.Pod);
    const statusOf = async (name: string) => (await pods.get({ name, namespace: 'kube-system' })).status;
    const phase = async (name: string) => (await statusOf(name))?.phase;
    const { allocatable } = (await cluster.clock.until(cluster.client.of(core.Node).get({ name: 'n1' }))).status ?? {};
    const cpus = Number(allocatable?.cpu);
    await cluster.apply(`${POD('half', { cpu: String(cpus / 2) })}---${POD('rest', { cpu: String(cpus / 4) })}`);
    await cluster.waitFor(async () => (await phase('half')) === 'Running' && (await phase('rest')) === 'Running');
    await cluster.apply(POD('critical', { cpu: String(cpus / 2), more: CRITICAL }));
    await cluster.waitFor(async () => (await phase('critical')) === 'Running');
    expect(await cluster.clock.until(phase('half'))).toBe('Running');
    const status = await cluster.clock.until(statusOf('rest'));
    expect(status).toMatchObject({ phase: 'Failed', reason: 'Preempting', message: 'Preempted in order to admit critical pod' });
    expect(findCondition(status?.conditions, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
    });
    const events = await cluster.clock.until(cluster.client.of(core.Event).list());
    expect(events.items.find(({ reason }) => reason === 'Preempting')).toMatchObject({
      type: 'Warning',
      message: 'Preempted in order to admit critical pod',
      involvedObject: { name: 'rest' },
    });
  });

  it('is rejected where not even all other pods would make room', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    const pods = cluster.client.of(core.Pod);
    const status = async () => (await pods.get({ name: 'critical', namespace: 'kube-system' })).status;
    await cluster.apply(POD('critical', { cpu: '100000', more: CRITICAL }));
    await cluster.waitFor(async () => (await status())?.phase === 'Failed');
    expect(await cluster.clock.until(status())).toMatchObject({
      reason: 'UnexpectedAdmissionError',
      message: expect.stringMatching(
        /^Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: \[\(res: cpu, q: \d+\), \]$/,
      ),
    });
  });
});
