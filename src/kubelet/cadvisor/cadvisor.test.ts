import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LegacyTree, UnifiedTree } from '../cgroups/cgroup-tree.ts';
import { cadvisorText } from './cadvisor-text.ts';
import type { ContainerSample } from './container-sample.ts';
import { parseNetDev } from './network-usage.ts';

let mount: string;
beforeEach(async () => {
  mount = await mkdtemp(path.join(os.tmpdir(), 'cadvisor-'));
});
afterEach(() => rm(mount, { recursive: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(mount, name)), { recursive: true });
    await writeFile(path.join(mount, name), `${text}\n`);
  }
}

const EXPECTED = {
  cpu: { usageNs: 5e9, userNs: 3e9, systemNs: 2e9, periods: 10, throttledPeriods: 4, throttledNs: 6e6 },
  memory: {
    ...{ usageBytes: 1000, workingSetBytes: 700, rssBytes: 400, cacheBytes: 500, mappedFileBytes: 50, swapBytes: 7, kernelBytes: 20 },
    ...{ activeFileBytes: 100, inactiveFileBytes: 300, pageFaults: 11, majorPageFaults: 2, maxUsageBytes: 1500, limitHits: 3, oomKills: 1 },
  },
  io: [{ device: '8:0', readBytes: 4096, writeBytes: 8192, reads: 1, writes: 2 }],
  threads: 5,
  spec: {
    ...{ cpuShares: 1024, cpuPeriodUs: 100_000, cpuQuotaUs: 50_000, memoryLimitBytes: 4096, memorySwapLimitBytes: 0 },
    ...{ memoryReservationBytes: 0, pidsLimit: 0 },
  },
};

describe('the usage of a cgroup', () => {
  it('is read from the files of version 1', async () => {
    await write({
      'cpuacct/p/cpuacct.usage': '5000000000',
      'cpuacct/p/cpuacct.stat': 'user 300\nsystem 200',
      'cpu/p/cpu.stat': 'nr_periods 10\nnr_throttled 4\nthrottled_time 6000000',
      'cpu/p/cpu.shares': '1024',
      'cpu/p/cpu.cfs_period_us': '100000',
      'cpu/p/cpu.cfs_quota_us': '50000',
      'memory/p/memory.stat':
        'cache 1\ntotal_cache 500\ntotal_rss 400\ntotal_mapped_file 50\ntotal_swap 7\ntotal_active_file 100\ntotal_inactive_file 300\ntotal_pgfault 11\ntotal_pgmajfault 2',
      'memory/p/memory.usage_in_bytes': '1000',
      'memory/p/memory.max_usage_in_bytes': '1500',
      'memory/p/memory.failcnt': '3',
      'memory/p/memory.kmem.usage_in_bytes': '20',
      'memory/p/memory.limit_in_bytes': '4096',
      'memory/p/memory.soft_limit_in_bytes': '9223372036854771712',
      'memory/p/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1',
      'pids/p/pids.current': '5',
      'pids/p/pids.max': 'max',
      'blkio/p/blkio.throttle.io_service_bytes_recursive': '8:0 Read 4096\n8:0 Write 8192\n8:0 Total 12288\nTotal 12288',
      'blkio/p/blkio.throttle.io_serviced_recursive': '8:0 Read 1\n8:0 Write 2\nTotal 3',
    });
    expect(await new LegacyTree(mount).usage('p')).toEqual(EXPECTED);
  });

  it('is read from the files of version 2, with its pressure', async () => {
    const pressure = (some: number, full: number) =>
      `some avg10=0.00 avg60=0.00 avg300=0.00 total=${some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${full}`;
    await write({
      'p/cpu.stat': 'usage_usec 5000000\nuser_usec 3000000\nsystem_usec 2000000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 6000',
      'p/cpu.weight': '39',
      'p/cpu.max': '50000 100000',
      'p/memory.stat': 'anon 400\nfile 500\nkernel 20\nfile_mapped 50\nactive_file 100\ninactive_file 300\npgfault 11\npgmajfault 2',
      'p/memory.current': '1000',
      'p/memory.peak': '1500',
      'p/memory.events': 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 1',
      'p/memory.swap.current': '7',
      'p/memory.max': '4096',
      'p/memory.swap.max': 'max',
      'p/pids.current': '5',
      'p/pids.max': 'max',
      'p/io.stat': '8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n254:0',
      'p/cpu.pressure': pressure(2_000_000, 0),
      'p/memory.pressure': pressure(0, 500_000),
      'p/io.pressure': pressure(0, 0),
    });
    expect(await new UnifiedTree(mount).usage('p')).toEqual({
      ...EXPECTED,
      // Weights are coarser than shares.
      spec: { ...EXPECTED.spec, cpuShares: 998 },
      pressure: {
        cpu: { someSeconds: 2, fullSeconds: 0 },
        memory: { someSeconds: 0, fullSeconds: 0.5 },
        io: { someSeconds: 0, fullSeconds: 0 },
      },
    });
  });
});

const DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0
  eth0:1234567 10 1 2 0 0 0 0 7654321 20 3 4 0 0 0 0
vethab12: 5 5 5 5 0 0 0 0 5 5 5 5 0 0 0 0
`;

describe('the text of cAdvisor', () => {
  const sample: ContainerSample = {
    labels: { container: 'c', id: '/kubepods/pod1/abc', image: 'busybox:1', name: 'abc', namespace: 'default', pod: 'web' },
    ...{ seenMs: 5_000, createdMs: 1_000, startedMs: 1_000, usage: EXPECTED, io: [{ ...EXPECTED.io[0]!, device: '/dev/sda' }] },
    fileSystems: [{ device: '/dev/sda1', usageBytes: 10, limitBytes: 100, inodes: 9, inodesFree: 4 }],
    interfaces: parseNetDev(DEV),
    processes: { processes: 2, fileDescriptors: 8, sockets: 1 },
  };
  const of = 'container="c",id="/kubepods/pod1/abc",image="busybox:1",name="abc",namespace="default",pod="web"';

  it.each([
    `container_cpu_usage_seconds_total{${of},cpu="total"} 5`,
    `container_cpu_cfs_throttled_seconds_total{${of}} 0.006`,
    `container_memory_working_set_bytes{${of}} 700`,
    `container_memory_failures_total{${of},failure_type="pgmajfault",scope="hierarchy"} 2`,
    `container_fs_usage_bytes{${of},device="/dev/sda1"} 10`,
    `container_fs_writes_bytes_total{${of},device="/dev/sda"} 8192`,
    `container_network_receive_bytes_total{${of},interface="eth0"} 1234567`,
    `container_network_transmit_packets_dropped_total{${of},interface="eth0"} 4`,
    `container_spec_cpu_quota{${of}} 50000`,
    `container_spec_memory_limit_bytes{${of}} 4096`,
    `container_oom_events_total{${of}} 1`,
    `container_ulimits_soft{${of},ulimit="max_open_files"} -1`,
    `container_start_time_seconds{${of}} 1`,
    '# TYPE container_cpu_usage_seconds_total counter',
    '# TYPE container_memory_working_set_bytes gauge',
    'container_scrape_error 0',
  ])('has the line %s', (line) => {
    expect(cadvisorText(undefined, [sample]).split('\n')).toContain(line);
  });

  it('omits loopback and veth interfaces of other networks', () => {
    expect(sample.interfaces.map(({ interface: name }) => name)).toEqual(['eth0']);
  });

  it('omits throttling without a quota, and pressure that is not measured', () => {
    const text = cadvisorText(undefined, [{ ...sample, usage: { ...EXPECTED, spec: { ...EXPECTED.spec, cpuQuotaUs: 0 } } }]);
    expect(text).not.toMatch(/container_cpu_cfs|container_spec_cpu_quota|container_pressure/);
  });

  it('counts the cores, sockets and memory of the machine', () => {
    const facts = { machineId: 'm', systemUuid: 's', bootId: 'b', kernelVersion: '6', osImage: 'x', memoryBytes: 10, swapBytes: 0 };
    const cpus = [0, 1].map((id) => ({ id, core: 0, socket: 0, numaNode: 0 }));
    const lines = cadvisorText({ ...facts, topology: { cpus, numaNodes: [{ id: 0, memoryBytes: 10 }] } }, []).split('\n');
    const labels = 'machine_id="m",system_uuid="s",boot_id="b"';
    expect(lines).toEqual(
      expect.arrayContaining([
        `machine_cpu_cores{${labels}} 2`,
        `machine_cpu_physical_cores{${labels}} 1`,
        `machine_memory_bytes{${labels}} 10`,
        `machine_node_memory_capacity_bytes{${labels},node_id="0"} 10`,
      ]),
    );
  });
});
