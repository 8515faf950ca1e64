import { isAbsolute, normalize } from 'node:path';
import { FeatureGates, goQuote, parseDurationMs, Quantity } from '#machinery';
import type { DefaultedConfiguration } from './defaults.ts';
import { allocatableProblems } from './validate-allocatable.ts';
import { tracingProblems, valueProblems } from './validate-values.ts';

/** Properties of the machine that a configuration depends on. */
export interface MachineTraits {
  readonly cgroupVersion: 1 | 2;
}

interface Traits extends MachineTraits {
  readonly gates: FeatureGates;
}

type Check = (c: DefaultedConfiguration, traits: Traits) => readonly string[];

/** The release whose feature gates are known. */
export const RELEASES = { emulated: '1.36', minCompatibility: '1.35' };

/** Validation errors in upstream's words and order; an invalid feature gate is reported alone. Pure. */
export function configurationProblems(config: DefaultedConfiguration, machine: MachineTraits): readonly string[] {
  try {
    const gates = new FeatureGates(new Map(Object.entries(config.featureGates ?? {})), RELEASES);
    return CHECKS.flatMap((check) => check(config, { ...machine, gates }));
  } catch (error) {
    return [(error as Error).message];
  }
}

const MAX_PORT = 65_535;

function problem(isBad: boolean, message: string): readonly string[] {
  return isBad ? [`invalid configuration: ${message}`] : [];
}

function notNegative(name: keyof DefaultedConfiguration, option: string): Check {
  return (c) => problem((c[name] as number) < 0, `${name} (--${option}) ${c[name]} must not be a negative number`);
}

function within(name: keyof DefaultedConfiguration, option: string, [min, max]: readonly [number, number]): Check {
  return (c) => {
    const value = c[name] as number;
    return problem(value < min || value > max, `${name} (--${option}) ${value} must be between ${min} and ${max}, inclusive`);
  };
}

const CHECKS: readonly Check[] = [
  (c) => problem(c.nodeLeaseDurationSeconds <= 0, 'nodeLeaseDurationSeconds must be greater than 0'),
  (c) =>
    problem(
      Boolean(c.systemCgroups) && !c.cgroupRoot,
      'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified',
    ),
  notNegative('eventBurst', 'event-burst'),
  notNegative('eventRecordQPS', 'event-qps'),
  (c, traits) => (c.healthzPort === 0 ? [] : within('healthzPort', 'healthz-port', [1, MAX_PORT])(c, traits)),
  quotaPeriodProblems,
  within('imageGCHighThresholdPercent', 'image-gc-high-threshold', [0, 100]),
  within('imageGCLowThresholdPercent', 'image-gc-low-threshold', [0, 100]),
  imageCollectionProblems,
  within('iptablesDropBit', 'iptables-drop-bit', [0, 31]),
  within('iptablesMasqueradeBit', 'iptables-masquerade-bit', [0, 31]),
  notNegative('kubeAPIBurst', 'kube-api-burst'),
  notNegative('kubeAPIQPS', 'kube-api-qps'),
  (c) =>
    problem(c.nodeStatusMaxImages < -1, `nodeStatusMaxImages (--node-status-max-images) ${c.nodeStatusMaxImages} must be -1 or greater`),
  notNegative('maxOpenFiles', 'max-open-files'),
  notNegative('maxPods', 'max-pods'),
  within('oomScoreAdj', 'oom-score-adj', [-1000, 1000]),
  notNegative('podsPerCore', 'pods-per-core'),
  within('port', 'port', [1, MAX_PORT]),
  (c) =>
    problem(
      c.readOnlyPort < 0 || c.readOnlyPort > MAX_PORT,
      `readOnlyPort (--read-only-port) ${c.readOnlyPort} must be between 0 and 65535, inclusive`,
    ),
  notNegative('registryBurst', 'registry-burst'),
  notNegative('registryPullQPS', 'registry-qps'),
  pullProblems,
  (c, { gates }) =>
    problem(
      c.serverTLSBootstrap === true && !gates.isEnabled('RotateKubeletServerCertificate'),
      'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate',
    ),
  (c) => problem(c.runOnce === true, `runOnce (--runOnce) ${c.runOnce}, Runonce mode has been deprecated and should not be set`),
  topologyProblems,
  shutdownProblems,
  swapProblems,
  (c) => allocatableProblems(c),
  (c) => oneOf('hairpinMode (--hairpin-mode)', c.hairpinMode, ['none', 'hairpin-veth', 'promiscuous-bridge']),
  verificationProblems,
  (c, { cgroupVersion }) => machineProblems(c, cgroupVersion),
  ({ memoryThrottlingFactor: factor }) =>
    problem(factor <= 0 || factor > 1, `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`),
  (c, { gates }) =>
    problem(
      c.memoryReservationPolicy === 'TieredReservation' && !gates.isEnabled('MemoryQoS'),
      'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
    ),
  (c) => oneOf('memoryReservationPolicy', c.memoryReservationPolicy, ['None', 'TieredReservation']),
  tracingProblems,
  logProblems,
  valueProblems,
];

function oneOf(name: string, value: string, allowed: readonly string[]): readonly string[] {
  const quoted = allowed.map(goQuote);
  const list = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return problem(!allowed.includes(value), `option ${goQuote(value)} specified for ${name}. Valid options are ${list}`);
}

function quotaPeriodProblems({ cpuCFSQuotaPeriod: period }: DefaultedConfiguration, { gates }: Traits): readonly string[] {
  const ms = parseDurationMs(period);
  const name = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${period}}`;
  if (gates.isEnabled('CustomCPUCFSQuotaPeriod')) return problem(ms < 1 || ms > 1000, `${name} must be between 1ms and 1sec, inclusive`);
  return problem(ms !== 100, `${name} requires feature gate CustomCPUCFSQuotaPeriod`);
}

function imageCollectionProblems(c: DefaultedConfiguration): readonly string[] {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high, imageMinimumGCAge: min, imageMaximumGCAge: max } = c;
  const [minMs, maxMs] = [parseDurationMs(min), parseDurationMs(max)];
  return [
    ...problem(
      low >= high,
      `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
    ),
    ...problem(minMs < 0, `imageMinimumGCAge ${min} must not be negative`),
    ...problem(maxMs < 0, `imageMaximumGCAge ${max} must not be negative`),
    ...problem(maxMs > 0 && maxMs <= minMs, `imageMaximumGCAge ${max} must be greater than imageMinimumGCAge ${min}`),
  ];
}

function pullProblems({ maxParallelImagePulls: parallel, serializeImagePulls }: DefaultedConfiguration): readonly string[] {
  if (parallel === undefined) return [];
  return [
    ...problem(parallel < 1, `maxParallelImagePulls ${parallel} must be a positive number`),
    ...problem(
      serializeImagePulls && parallel > 1,
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    ),
  ];
}

const TOPOLOGY_POLICIES = ['none', 'best-effort', 'restricted', 'single-numa-node'];
const TOPOLOGY_SCOPES = ['container', 'pod'];

function topologyProblems({ topologyManagerPolicy: policy, topologyManagerScope: scope }: DefaultedConfiguration): readonly string[] {
  return [
    ...problem(
      !TOPOLOGY_POLICIES.includes(policy),
      `topologyManagerPolicy (--topology-manager-policy) ${goQuote(policy)} must be one of: [${TOPOLOGY_POLICIES.map(goQuote).join(' ')}]`,
    ),
    ...problem(
      !TOPOLOGY_SCOPES.includes(scope),
      `topologyManagerScope (--topology-manager-scope) ${goQuote(scope)} must be one of: "container", or "pod"`,
    ),
  ];
}

function shutdownProblems(c: DefaultedConfiguration, { gates }: Traits): readonly string[] {
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical, shutdownGracePeriodByPodPriority: byPriority = [] } = c;
  const [allMs, criticalMs] = [parseDurationMs(all), parseDurationMs(critical)];
  const isOdd = (ms: number) => ms < 0 || (ms > 0 && ms < 1000);
  if (!gates.isEnabled('GracefulNodeShutdown')) {
    const message = 'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown';
    return problem(allMs > 0 || criticalMs > 0, message);
  }
  return [
    ...problem(criticalMs > allMs, `shutdownGracePeriodCriticalPods {${critical}} must be <= shutdownGracePeriod {${all}}`),
    ...problem(isOdd(allMs), `shutdownGracePeriod {${all}} must be either zero or otherwise >= 1 sec`),
    ...problem(isOdd(criticalMs), `shutdownGracePeriodCriticalPods {${critical}} must be either zero or otherwise >= 1 sec`),
    ...problem(
      byPriority.length > 0 && !gates.isEnabled('GracefulNodeShutdownBasedOnPodPriority'),
      'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
    ),
    ...problem(
      byPriority.length > 0 && (allMs > 0 || criticalMs > 0),
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    ),
  ];
}

function swapProblems({ memorySwap, crashLoopBackOff }: DefaultedConfiguration, { gates }: Traits): readonly string[] {
  const behavior = memorySwap?.swapBehavior ?? '';
  const period = crashLoopBackOff?.maxContainerRestartPeriod;
  const seconds = period === undefined ? undefined : parseDurationMs(period) / 1000;
  return [
    ...problem(
      seconds !== undefined && !gates.isEnabled('KubeletCrashLoopBackOffMax'),
      'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
    ),
    ...problem(
      !['', 'NoSwap', 'LimitedSwap'].includes(behavior),
      `memorySwap.swapBehavior ${goQuote(behavior)} must be one of: "", "LimitedSwap" or "NoSwap"`,
    ),
    ...problem(
      seconds !== undefined && (seconds < 1 || seconds > 300),
      `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${seconds} seconds) must be set between 1s and 300s`,
    ),
  ];
}

const VERIFICATION_POLICIES = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'];

function verificationProblems(c: DefaultedConfiguration): readonly string[] {
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: allowed = [] } = c;
  return [
    ...oneOf('imagePullCredentialsVerificationPolicy', policy, VERIFICATION_POLICIES),
    ...problem(
      allowed.length > 0 && policy !== 'NeverVerifyAllowlistedImages',
      `can't set \`preloadedImagesVerificationAllowlist\` if \`imagePullCredentialsVertificationPolicy\` is not "NeverVerifyAllowlistedImages"`,
    ),
  ];
}

const ID_UNIT = 65_536;

function machineProblems(
  { failCgroupV1, singleProcessOOMKill, userNamespaces }: DefaultedConfiguration,
  version: 1 | 2,
): readonly string[] {
  const ids = userNamespaces?.idsPerPod;
  if (failCgroupV1 && version === 1) {
    const advice = 'cgroup v1 support is unsupported and will be removed in a future release';
    return [`kubelet is configured to not run on a host using cgroup v1. ${advice}`];
  }
  if (version === 1 && singleProcessOOMKill === false)
    return problem(true, 'singleProcessOOMKill must not be explicitly set to false when using cgroup v1');
  if (ids === undefined) return [];
  if (ids < ID_UNIT) return problem(true, `userNamespaces.idsPerPod must not be less than ${ID_UNIT}`);
  return problem(ids % ID_UNIT !== 0, `userNamespaces.idsPerPod must be a multiple of ${ID_UNIT}`);
}

function isQuantity(text: string): boolean {
  try {
    Quantity.parse(text);
    return true;
  } catch {
    return false;
  }
}

function logProblems(c: DefaultedConfiguration): readonly string[] {
  const { podLogsDir } = c;
  const isClean = podLogsDir === '/' || normalize(podLogsDir).replace(/\/$/, '') === podLogsDir;
  return [
    ...problem(c.enableSystemLogQuery === true && !c.enableSystemLogHandler, 'enableSystemLogHandler is required for enableSystemLogQuery'),
    ...problem(c.containerLogMaxWorkers < 1, 'containerLogMaxWorkers must be greater than or equal to 1'),
    ...problem(
      parseDurationMs(c.containerLogMonitorInterval) < 3000,
      'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s',
    ),
    ...problem(
      !isQuantity(c.containerLogMaxSize),
      `containerLogMaxSize must be a quantity, such as 10Mi: ${goQuote(c.containerLogMaxSize)}`,
    ),
    ...problem(c.containerLogMaxFiles <= 1, 'containerLogMaxFiles must be greater than 1'),
    ...problem(!isAbsolute(podLogsDir), `pod logs path ${goQuote(podLogsDir)} must be absolute path`),
    ...problem(!isClean, `pod logs path ${goQuote(podLogsDir)} must be normalized`),
  ];
}
