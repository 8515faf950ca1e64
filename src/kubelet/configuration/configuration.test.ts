import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withDefaults } from './defaults.ts';
import { ineffectiveFields } from './ineffective-fields.ts';
import { KubeletConfiguration } from './kubelet-configuration.ts';
import { settingsOf } from './kubelet-settings.ts';
import { readConfiguration } from './read-configuration.ts';
import { configurationProblems } from './validate-configuration.ts';

/** The type, fields with rejected values, and fields that other validations depend on. */
const CHECKED_ONLY: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'systemCgroups', 'enableControllerAttachDetach', 'topologyManagerPolicyOptions', 'runOnce', 'failCgroupV1'],
  ...['featureGates', 'mergeDefaultEvictionSettings'],
]);
const NO_SHUTDOWN = { GracefulNodeShutdown: false, GracefulNodeShutdownBasedOnPodPriority: false, WindowsGracefulNodeShutdown: false };
/** What lists or checks fields without using them. */
const DECLARATIONS = /kubelet-configuration(-flags)?\.ts|defaults\.ts|effects\.ts|validate-(configuration|values)\.ts|\.test\.ts/;

async function readSources(directories: readonly string[]): Promise<readonly string[]> {
  const lists = directories.map(async (directory) => {
    const base = new URL(directory, import.meta.url).pathname;
    const files = (await readdir(base, { recursive: true })).filter((file) => file.endsWith('.ts') && !DECLARATIONS.test(file));
    return Promise.all(files.map((file) => readFile(join(base, file), 'utf8')));
  });
  return (await Promise.all(lists)).flat();
}

/** As `kubeadm init` writes it. */
const KUBEADM = `
authentication: { anonymous: { enabled: false }, webhook: { cacheTTL: 0s, enabled: true }, x509: { clientCAFile: /etc/kubernetes/pki/ca.crt } }
authorization: { mode: Webhook, webhook: { cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s } }
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging: { flushFrequency: 0, options: { json: { infoBufferSize: "0" }, text: { infoBufferSize: "0" } }, verbosity: 0 }
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const file = (body: string, path = '/etc/kubelet/config.yaml') => ({ path, text: HEAD + body });

describe('the configuration file', () => {
  test('is laid under its drop-ins, which replace lists and merge objects', () => {
    const base = file('maxPods: 20\nclusterDNS: [10.0.0.1]\nevictionHard: { memory.available: 1Gi }\n');
    const first = file('clusterDNS: [10.0.0.2, 10.0.0.3]\nevictionHard: { nodefs.available: 5% }\n', '/etc/d/10.conf');
    const second = file('maxPods: 30\n', '/etc/d/20.conf');
    expect(readConfiguration(base, [first, second]).configuration).toMatchObject({
      maxPods: 30,
      clusterDNS: ['10.0.0.2', '10.0.0.3'],
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
    });
  });

  test('names files relative to itself', () => {
    const { configuration } = readConfiguration(file('staticPodPath: manifests\nauthentication: { x509: { clientCAFile: pki/ca.crt } }\n'));
    expect(configuration.staticPodPath).toBe('/etc/kubelet/manifests');
    expect(configuration.authentication?.x509?.clientCAFile).toBe('/etc/kubelet/pki/ca.crt');
  });

  test('of kubeadm is accepted without a warning', () => {
    const { configuration, warnings } = readConfiguration(file(KUBEADM));
    expect([...warnings, ...ineffectiveFields(configuration)]).toEqual([]);
    expect(configurationProblems(withDefaults(configuration), { cgroupVersion: 2 })).toEqual([]);
  });

  test('may have unknown fields, which are reported', () => {
    const { configuration, warnings } = readConfiguration(file('maxPods: 5\nmaxpods: 6\n'));
    expect(configuration.maxPods).toBe(5);
    expect(warnings).toEqual(['Using lenient decoding as strict decoding failed: strict decoding error: unknown field "maxpods"']);
  });

  test.each([
    ['', 'failed to load kubelet config file, path: /f, error: kubelet config file "/f" was empty'],
    ['maxPods: 1', `failed to load kubelet config file, path: /f, error: failed to decode: Object 'Kind' is missing`],
    [
      `${HEAD}maxPods: many`,
      'failed to load kubelet config file, path: /f, error: failed to decode: json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32',
    ],
    [
      'apiVersion: v1\nkind: Pod',
      'failed to load kubelet config file, path: /f, error: failed to decode: no kind "Pod" is registered for version "v1"',
    ],
  ])('is refused with a reason (%#)', (text, message) => {
    expect(() => readConfiguration({ path: '/f', text })).toThrow(message);
  });

  test('without a kind is refused as a drop-in', () => {
    const dropIn = { path: '/d/1.conf', text: 'maxPods: 1' };
    expect(() => readConfiguration(undefined, [dropIn])).toThrow('failed to load kubelet dropin file, path: /d/1.conf, no apiVersion/kind');
  });
});

describe('defaults', () => {
  test('are upstream’s where nothing is set, and where zero means nothing', () => {
    const config = withDefaults({ port: 0, syncFrequency: '0s', authentication: { webhook: { cacheTTL: '1m0s' } } });
    expect(config).toMatchObject({ port: 10250, syncFrequency: '1m0s', maxPods: 110, enforceNodeAllocatable: ['pods'] });
    expect(config.authentication).toEqual({ anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '1m0s' } });
  });

  test.each([
    [undefined, undefined, ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree']],
    [{}, undefined, []],
    [{ 'pid.available': '5%' }, undefined, ['pid.available']],
    [
      { 'memory.available': '1Gi' },
      true,
      ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'],
    ],
  ])('of eviction are replaced by what is set, or merged with it (%#)', (evictionHard, mergeDefaultEvictionSettings, signals) => {
    const configuration = { ...(evictionHard && { evictionHard }), ...(mergeDefaultEvictionSettings && { mergeDefaultEvictionSettings }) };
    expect(Object.keys(withDefaults(configuration).evictionHard)).toEqual(signals);
  });

  test('of eviction do not hold where a file sets no thresholds', () => {
    const text = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {}\n';
    const { configuration } = readConfiguration(file(text));
    expect(withDefaults(configuration).evictionHard).toEqual({});
  });

  test('hold where a configuration of kubeadm writes zeros', () => {
    const { configuration } = readConfiguration(file(KUBEADM));
    const config = withDefaults(configuration);
    expect(config.authentication.webhook).toEqual({ enabled: true, cacheTTL: '2m0s' });
    expect(config.authorization.webhook).toEqual({ cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' });
    expect(Object.keys(settingsOf(configuration))).toEqual(['clusterDns', 'clusterDomain', 'cgroupDriver']);
  });

  test('report as often as they look, when only that is set', () => {
    expect(withDefaults({ nodeStatusUpdateFrequency: '7s' }).nodeStatusReportFrequency).toBe('7s');
  });
});

describe('validation', () => {
  test('finds nothing wrong with the defaults', () => {
    expect(configurationProblems(withDefaults({}), { cgroupVersion: 1 })).toEqual([]);
  });

  test.each<[KubeletConfiguration, string]>([
    [{ port: 70_000 }, 'invalid configuration: port (--port) 70000 must be between 1 and 65535, inclusive'],
    [{ maxPods: -1 }, 'invalid configuration: maxPods (--max-pods) -1 must not be a negative number'],
    [{ nodeLeaseDurationSeconds: -1 }, 'invalid configuration: nodeLeaseDurationSeconds must be greater than 0'],
    [
      { failCgroupV1: true },
      'kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release',
    ],
    [
      { enforceNodeAllocatable: ['pods', 'nodes'] },
      'invalid configuration: option "nodes" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none"',
    ],
    [
      { enforceNodeAllocatable: ['kube-reserved'] },
      'invalid configuration: kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [{ kubeReserved: { gpu: '1' } }, '--kube-reserved value failed to parse: cannot reserve "gpu" resource'],
    [{ systemReserved: { cpu: '-1' } }, '--system-reserved value failed to parse: resource quantity for "cpu" cannot be negative: -1'],
    [
      { imagePullCredentialsVerificationPolicy: 'Sometimes' },
      'invalid configuration: option "Sometimes" specified for imagePullCredentialsVerificationPolicy. Valid options are "NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages" or "AlwaysVerify"',
    ],
    [{ runOnce: true }, 'invalid configuration: runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set'],
    [{ containerLogMaxSize: 'large' }, 'invalid configuration: containerLogMaxSize must be a quantity, such as 10Mi: "large"'],
    [{ podLogsDir: 'logs' }, 'invalid configuration: pod logs path "logs" must be absolute path'],
    [{ shutdownGracePeriod: '500ms' }, 'invalid configuration: shutdownGracePeriod {500ms} must be either zero or otherwise >= 1 sec'],
    [{ featureGates: { NoSuchGate: true } }, 'unrecognized feature gate: NoSuchGate'],
    [{ featureGates: { NodeSwap: false } }, 'cannot set feature gate NodeSwap to false, feature is locked to true'],
    [
      { featureGates: { CustomCPUCFSQuotaPeriod: false }, cpuCFSQuotaPeriod: '50ms' },
      'invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {50ms} requires feature gate CustomCPUCFSQuotaPeriod',
    ],
    [
      { cpuCFSQuotaPeriod: '2s' },
      'invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {2s} must be between 1ms and 1sec, inclusive',
    ],
    [
      { featureGates: { RotateKubeletServerCertificate: false }, serverTLSBootstrap: true },
      'invalid configuration: serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate',
    ],
    [
      { featureGates: NO_SHUTDOWN, shutdownGracePeriod: '10s' },
      'invalid configuration: specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
    ],
    [
      { memoryReservationPolicy: 'TieredReservation' },
      'invalid configuration: memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
    ],
    [{ tracing: { samplingRatePerMillion: -1 } }, 'tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'],
    [
      { tracing: { endpoint: 'https://collector:4317' } },
      'tracing.endpoint: Invalid value: "https://collector:4317": unsupported scheme: https.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md',
    ],
    [{ tlsCurvePreferences: [29, 99] }, 'invalid configuration: tlsCurvePreferences: 99 is no curve that this server has'],
    [{ cgroupDriver: 'cgmanager' }, 'invalid configuration: cgroupDriver (--cgroup-driver) "cgmanager" must be cgroupfs or systemd'],
    [{ configMapAndSecretChangeDetectionStrategy: 'Poll' }, 'unknown configmap and secret manager mode: "Poll"'],
    [{ logging: { format: 'xml' } }, 'logging.format: Invalid value: "xml": Unsupported log format'],
    [
      { enableControllerAttachDetach: false },
      'invalid configuration: enableControllerAttachDetach (--enable-controller-attach-detach) false is not supported: the attach-detach controller attaches volumes',
    ],
    [
      { systemCgroups: '/system', cgroupRoot: '/' },
      'invalid configuration: systemCgroups (--system-cgroups) is not supported: processes of the system stay in their cgroups',
    ],
    [
      { topologyManagerPolicyOptions: { 'prefer-closest-numa-nodes': 'true' } },
      'invalid configuration: topologyManagerPolicyOptions prefer-closest-numa-nodes is not supported: NUMA nodes are not told apart by their distance',
    ],
    [
      { topologyManagerPolicy: 'best' },
      'invalid configuration: topologyManagerPolicy (--topology-manager-policy) "best" must be one of: ["none" "best-effort" "restricted" "single-numa-node"]',
    ],
  ])('says what upstream says (%#)', (configuration, problem) => {
    expect(configurationProblems(withDefaults(configuration), { cgroupVersion: 1 })).toEqual([problem]);
  });
});

describe('fields without effect', () => {
  test('are named when they are set to something else than the default', () => {
    expect(ineffectiveFields({ hairpinMode: 'promiscuous-bridge', contentType: 'application/json' })).toEqual([]);
    expect(ineffectiveFields({ hairpinMode: 'none', maxPods: 5 })).toEqual(['hairpinMode has no effect here: the network plugin decides']);
  });

  test('include feature gates that decide nothing, unless they are set to their defaults', () => {
    expect(ineffectiveFields({ featureGates: { MemoryQoS: true, ImageVolume: true, GracefulNodeShutdown: false } })).toEqual([
      "featureGates.MemoryQoS has no effect here: the kubelet's features are on as they are by default",
    ]);
  });

  test('are fields of the configuration, and all that no code of the kubelet reads', async () => {
    const sources = await readSources(['../', '../../cli/']);
    const names = KubeletConfiguration.fields.map(({ name }) => name);
    const { featureGates: _, ...all } = Object.fromEntries(names.map((name) => [name, 'set']));
    const reported = ineffectiveFields(all as KubeletConfiguration).map((sentence) => sentence.split(' ')[0] ?? '');
    const unread = names.filter((name) => !sources.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    expect(names).toEqual(expect.arrayContaining(reported));
    expect(unread.filter((name) => !CHECKED_ONLY.has(name) && !reported.includes(name))).toEqual([]);
  });
});

test('only what is set becomes a setting of the kubelet', () => {
  expect(settingsOf({})).toEqual({});
  expect(settingsOf({ maxParallelImagePulls: 3, clusterDNS: ['10.0.0.1'], registryPullQPS: 0, podPidsLimit: -1 })).toEqual({
    maxParallelImagePulls: 3,
    clusterDns: ['10.0.0.1'],
  });
  expect(settingsOf({ registryBurst: 2 })).toEqual({ pullRate: { perSecond: 5, burst: 2 } });
  expect(settingsOf({ eventRecordQPS: 3 })).toEqual({ eventRate: { perSecond: 3, burst: 100 } });
  expect(settingsOf({ eventRecordQPS: 0, eventBurst: 7 })).toEqual({});
});
