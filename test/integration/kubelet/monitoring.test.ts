import { describe, expect, it } from 'vitest';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`monitoring of real containers is skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };

async function get(node: RealKubelet, path: string): Promise<string> {
  const answer = await node.kubelet.handle({ method: 'GET', path, query: new URLSearchParams() });
  if (!('body' in answer)) throw new Error('an upgrade');
  let text = '';
  for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
  expect(answer.code, text).toBe(200);
  return text;
}

/** The value of the only series with these labels. */
function seriesValue(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const matches = lines.filter((line) => parts.every((part) => line.includes(part)));
  expect(matches, `${name} ${parts.join()}`).toHaveLength(1);
  return Number(matches[0]?.slice(matches[0].lastIndexOf(' ') + 1));
}

describe.skipIf(reason !== undefined)('monitoring of a real node', () => {
  it('shows what cgroups, runtime and the kubelet itself measure, under upstream’s names', async () => {
    await using node = await openRealKubelet();
    const limits = { cpu: '500m', memory: '64Mi' };
    const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1 };
    const command = ['sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; sleep 100000'];
    await node.run('web', {
      hostNetwork: true,
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          ...{ name: 'c', image: 'busybox:1', command, resources: { limits }, readinessProbe },
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
    });
    const of = { container: 'c', pod: 'web', namespace: 'default' };

    const checkpoint = (container: string) =>
      node.kubelet.handle({ method: 'POST', path: `/checkpoint/default/web/${container}`, query: new URLSearchParams() });
    // This containerd does not support checkpoints.
    expect([await checkpoint('none'), await checkpoint('c')]).toMatchObject([{ code: 404 }, { code: 500 }]);

    const cadvisor = await get(node, '/metrics/cadvisor');
    expect(
      seriesValue(cadvisor, 'container_cpu_usage_seconds_total', { ...of, cpu: 'total', image: 'docker.io/library/busybox:1' }),
    ).toBeGreaterThan(0);
    expect(seriesValue(cadvisor, 'container_memory_working_set_bytes', of)).toBeGreaterThan(0);
    expect(seriesValue(cadvisor, 'container_spec_memory_limit_bytes', of)).toBe(64 * 1024 ** 2);
    expect(seriesValue(cadvisor, 'container_spec_cpu_quota', of)).toBe(50_000);
    expect(seriesValue(cadvisor, 'container_processes', of)).toBeGreaterThan(0);
    expect(seriesValue(cadvisor, 'container_memory_working_set_bytes', { id: `/${node.cgroup}/kubepods` })).toBeGreaterThan(0);
    expect(seriesValue(cadvisor, 'container_cpu_usage_seconds_total', { id: '/' })).toBeGreaterThan(0);
    expect(seriesValue(cadvisor, 'machine_cpu_cores', {})).toBeGreaterThan(0);

    const resource = await get(node, '/metrics/resource');
    const podMemory = seriesValue(resource, 'pod_memory_working_set_bytes', { pod: 'web' });
    expect(seriesValue(resource, 'node_memory_working_set_bytes', {})).toBeGreaterThan(podMemory);
    expect(seriesValue(resource, 'resource_scrape_error', {})).toBe(0);

    const own = await get(node, '/metrics');
    expect(seriesValue(own, 'kubelet_node_name', { node: node.nodeName })).toBe(1);
    expect(seriesValue(own, 'kubelet_running_pods', {})).toBe(1);
    expect(seriesValue(own, 'kubelet_running_containers', { container_state: 'running' })).toBe(1);
    expect(seriesValue(own, 'kubelet_started_containers_total', { container_type: 'container' })).toBe(1);
    expect(seriesValue(own, 'kubelet_pod_start_duration_seconds_count', {})).toBe(1);
    expect(seriesValue(own, 'kubelet_runtime_operations_total', { operation_type: 'run_podsandbox' })).toBe(1);
    expect(seriesValue(own, 'kubelet_pleg_relist_duration_seconds_count', {})).toBeGreaterThan(0);
    expect(seriesValue(own, 'kubelet_cgroup_manager_duration_seconds_count', { operation_type: 'create' })).toBe(1);
    expect(seriesValue(own, 'storage_operation_duration_seconds_count', { volume_plugin: 'kubernetes.io/empty-dir' })).toBe(1);
    const volumeState = { plugin_name: 'kubernetes.io/empty-dir', state: 'actual_state_of_world' };
    expect(seriesValue(own, 'volume_manager_total_volumes', volumeState)).toBe(1);
    for (const name of ['cpu_seconds_total', 'resident_memory_bytes', 'open_fds', 'max_fds', 'virtual_memory_bytes', 'start_time_seconds'])
      expect(seriesValue(own, `process_${name}`, {})).toBeGreaterThan(0);
    const sli = async () => seriesValue(await get(node, '/metrics'), 'kubelet_pod_start_sli_duration_seconds_count', {});
    await expect.poll(sli, POLL).toBe(1);

    const probes = async () => (await get(node, '/metrics/probes')).includes('probe_type="Readiness",result="successful"');
    await expect.poll(probes, POLL).toBe(true);

    const summary = JSON.parse(await get(node, '/stats/summary')) as Summary;
    expect(summary.node.memory.workingSetBytes).toBeGreaterThan(podMemory);
    expect(summary.node.rlimit.curproc).toBeGreaterThan(0);
    expect(summary.node.runtime.imageFs.capacityBytes).toBeGreaterThan(0);
    expect(summary.pods[0]).toMatchObject({ podRef: { name: 'web' }, containers: [{ name: 'c', logs: { inodesUsed: 1 } }] });
    expect(summary.pods[0]?.['ephemeral-storage'].capacityBytes).toBeGreaterThan(0);
  });
});

interface Summary {
  readonly node: {
    readonly memory: { readonly workingSetBytes: number };
    readonly rlimit: { readonly curproc: number };
    readonly runtime: { readonly imageFs: { readonly capacityBytes: number } };
  };
  readonly pods: readonly { readonly 'ephemeral-storage': { readonly capacityBytes: number } }[];
}
