import { mkdir, readdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import { type Clock, type Logger, type Random, stopAll } from '#base';
import type { Client } from '#client';
import { linuxMonitoring } from '../cadvisor/linux-monitoring.ts';
import { type CgroupDriver, CgroupNames } from '../cgroups/cgroup-names.ts';
import { openCgroupTree } from '../cgroups/cgroup-tree.ts';
import { type CgroupsDeps, PodCgroups } from '../cgroups/cgroups-hook.ts';
import { enforceReservedCgroups, type ReservedCgroupsConfig } from '../cgroups/reserved-cgroups.ts';
import { SystemdTree } from '../cgroups/systemd-tree.ts';
import { SystemdUnits } from '../cgroups/systemd-units.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { StartDriverController } from '../csi/controller/csi-controllers.ts';
import { SYSTEM_BUS } from '../dbus/dbus-connection.ts';
import { DeviceHealth } from '../dra/device-health.ts';
import { DraManager } from '../dra/dra-manager.ts';
import { DraPlugins } from '../dra/dra-plugins.ts';
import { ResourceSliceCleanup } from '../dra/resource-slice-cleanup.ts';
import { type CredentialProvidersConfig, openCredentials } from '../images/credentials/open-credentials.ts';
import { PullRecords } from '../images/pull-records.ts';
import type { PullVerification } from '../images/pull-verification.ts';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { linuxMachine } from '../node/linux-machine.ts';
import type { NodeParts, NodePartsContext, OpenNodeParts } from '../node/node-parts.ts';
import { PodResourcesServer } from '../podresources/pod-resources-server.ts';
import { runtimeHandler } from '../pods/config/runtime-handler.ts';
import { swapResizeProblem } from '../pods/config/swap-limits.ts';
import type { PodHook } from '../pods/hooks/pod-hook.ts';
import type { StartedContainer } from '../pods/start-container.ts';
import { StateFile } from '../resources/state-file.ts';
import { holdInhibitor, openLogind } from '../shutdown/logind.ts';
import { subordinateIds } from '../userns/subordinate-ids.ts';
import { UserNamespaces } from '../userns/user-namespaces.ts';
import { volumesHook } from '../volumes/volumes-hook.ts';
import { type CgroupFactsConfig, cgroupFacts, hugePageSizes } from './cgroup-facts.ts';
import { linuxMeasurements, processObservation } from './linux-measurements.ts';
import { type NodeResourcesConfig, openNodeResources } from './node-resources.ts';
import { openNodeStorage } from './node-storage.ts';
import { podDns } from './pod-dns.ts';
import { podFilesHook } from './pod-files-hook.ts';
import { startServiceInformer } from './service-informer.ts';
import { terminationMessage } from './termination-message.ts';

export interface LinuxPartsConfig extends NodeResourcesConfig, ReservedCgroupsConfig, CgroupFactsConfig {
  /** As `--root-dir`. Default `/var/lib/kubelet`. */
  readonly rootDir?: string;
  /** Default `/var/log/pods`. */
  readonly podLogsDir?: string;
  /** Where symlinks to the logs are created for log shippers; empty: nowhere. Default `/var/log/containers`. */
  readonly containerLogsDir?: string;
  /** As `--resolv-conf`. Default `/etc/resolv.conf`. */
  readonly resolvConf?: string;
  /** As `--cgroup-root`. Default `/`. */
  readonly cgroupRoot?: string;
  /** As `--cgroups-per-qos`. Default true. */
  readonly cgroupsPerQos?: boolean;
  /** As `--cgroup-driver`: for runtimes that do not report theirs. Default `cgroupfs`. */
  readonly cgroupDriver?: CgroupDriver;
  /** As `--pod-max-pids`. Default: no limit. */
  readonly podPidsLimit?: number;
  /** As `--image-credential-provider-config`, already parsed, and `--image-credential-provider-bin-dir`. */
  readonly credentialProviders?: CredentialProvidersConfig;
  /** Default: only images that the kubelet pulled are verified. */
  readonly pullVerification?: PullVerification;
  /** As `userNamespaces.idsPerPod`. Default 65536. */
  readonly idsPerPod?: number;
  /** As `--seccomp-default`. Default false. */
  readonly seccompDefault?: boolean;
}

export interface LinuxPartsDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absent: nothing is counted. */
  readonly kubeletMetrics?: KubeletMetrics;
  /** Runs CSI controller services on this machine. Absent: drivers need sidecars. */
  readonly startDriverController?: StartDriverController;
}

export const DEFAULT_ROOT_DIR = '/var/lib/kubelet';

/** Files, cgroups, volumes and DNS of pods on this machine. */
export function linuxParts(config: LinuxPartsConfig, deps: LinuxPartsDeps): OpenNodeParts {
  return async (context) => {
    const { rootDir = DEFAULT_ROOT_DIR, podLogsDir = '/var/log/pods', containerLogsDir = '/var/log/containers' } = config;
    for (const directory of [join(rootDir, 'pods'), podLogsDir]) await mkdir(directory, { recursive: true, mode: 0o750 });
    if (containerLogsDir !== '') await mkdir(containerLogsDir, { recursive: true, mode: 0o755 });
    const logDirectory = ({ metadata }: core.Pod) => `${podLogsDir}/${metadata.namespace}_${metadata.name}_${metadata.uid}`;
    const resources = await openNodeResources(config, { ...deps, rootDir, node: context.config });
    const machine = await linuxMachine(rootDir).read();
    const units = new SystemdUnits({ socketPath: SYSTEM_BUS, userId: process.getuid?.() ?? 0 }, deps.clock);
    const cgroupOptions = {
      units,
      hasExclusiveCpus: (uid: string) => resources.cpus?.hasExclusiveCpus(uid) ?? false,
      hugePageSizes: hugePageSizes(machine),
    };
    const cgroups = config.cgroupsPerQos === false ? undefined : await openCgroups(config, context, { ...deps, ...cgroupOptions });
    const departed = new ResourceSliceCleanup({ ...deps, client: context.client, nodeName: context.config.nodeName });
    const healthListeners: ((podUids: readonly string[]) => void)[] = [];
    const notifyPods = (podUids: readonly string[]) => {
      for (const listener of healthListeners) listener(podUids);
    };
    const health = new DeviceHealth(deps.clock, (driver) => notifyPods(dynamic.podsOf(driver)));
    const plugins = new DraPlugins({ ...deps, health, departed });
    const dynamic = new DraManager({ client: context.client, plugins, file: new StateFile(join(rootDir, 'dra_manager_state')) });
    await dynamic.open();
    departed.removeAll();
    resources.onChange(() => notifyPods(resources.devices.podUids));
    const podResources = new PodResourcesServer({ ...resources, dynamic, logger: deps.logger });
    await podResources.start(join(rootDir, 'pod-resources'));
    const storage = await openNodeStorage(rootDir, context, { ...deps, pluginHandlers: new Map([['DRAPlugin', plugins]]) });
    const services = startServiceInformer(context.client, deps, context.signal);
    const files = podFilesHook({ clusterDomain: context.clusterDomain, hostIps: context.config.nodeIps, logDirectory });
    const users = new UserNamespaces(await userIds(config, rootDir, context), deps.runtime);
    await users.open();
    const { credentials, hook: credentialsHook } = openCredentials(config.credentialProviders, {
      ...deps,
      rootDir,
      client: context.client,
    });
    const verification = config.pullVerification ?? { policy: 'NeverVerifyPreloadedImages', allowlist: [] };
    const pullRecords = new PullRecords(join(rootDir, 'image_manager'), verification, deps);
    await pullRecords.open();
    const facts = cgroupFacts(config, {
      ...{ cgroups, machine },
      hasExclusiveCpus: (uid, container) => resources.cpus?.cpusOf(uid, container) !== undefined,
    });
    const links: PodHook = { name: 'log-links', cleanUp: ({ pod }) => removeLinks(containerLogsDir, pod) };
    return {
      rootDir,
      seccompDefault: config.seccompDefault ?? false,
      cgroupFacts: facts,
      services,
      hooks: [
        ...(cgroups ? [cgroups] : []),
        dynamic,
        volumesHook(storage.volumes, { supportsRecursiveReadOnly: (pod) => supportsRecursiveReadOnly(pod, deps.runtime, context.client) }),
        files,
        links,
        resources.hook,
        usersHook(users),
        credentialsHook,
        podResources,
      ],
      logDirectory,
      userNamespaces: users,
      cgroupParent: (pod) => cgroups?.parentOf(pod),
      dnsConfig: (pod, events) => podDns(pod, { ...context, resolvConf: config.resolvConf ?? '/etc/resolv.conf' }, events),
      credentials: (pod, image) => credentials.of(pod, image),
      pullRecords,
      terminationMessage,
      started: (container) => linkLog(containerLogsDir, container),
      volumeUsage: (uid) => storage.volumes.stats(uid),
      deviceHealth: (pod, container) => [
        ...resources.devices.healthOf(pod.metadata.uid ?? '', container.name),
        ...dynamic.healthOf(pod, container, health),
      ],
      followDeviceHealth: (listener) => void healthListeners.push(listener),
      volumeCounts: () => storage.volumes.counts(),
      measurements: linuxMeasurements({
        ...{ ...deps, rootDir, logDirectory, volumes: storage.volumes, memoryBytes: context.memoryBytes },
        cgroups: cgroups?.view,
      }),
      monitoring:
        cgroups && linuxMonitoring({ ...deps, ...cgroups.view, rootDir, info: linuxMachine(rootDir), processes: processObservation }),
      logs: { pods: podLogsDir, containers: containerLogsDir },
      resources: {
        ...resources,
        resizeProblem: (desired, allocated) =>
          swapResizeProblem(desired, allocated, facts.swap) ?? resources.resizeProblem(desired, allocated),
      },
      shutdown: {
        open: (onShutdown, signal) => openLogind({ socketPath: SYSTEM_BUS, userId: process.getuid?.() ?? 0, signal, onShutdown }),
        inhibit: holdInhibitor,
      },
      [Symbol.asyncDispose]: () => stopAll([units, resources, services, departed, health, plugins, storage, podResources]),
    } satisfies NodeParts;
  };
}

type CgroupsOptions = LinuxPartsDeps & Pick<CgroupsDeps, 'hasExclusiveCpus' | 'hugePageSizes'> & { readonly units: SystemdUnits };

async function openCgroups(config: LinuxPartsConfig, context: NodePartsContext, deps: CgroupsOptions): Promise<PodCgroups> {
  const { cgroupDriver = config.cgroupDriver ?? 'cgroupfs' } = await deps.runtime.runtimeConfig();
  const names = new CgroupNames(cgroupDriver, config.cgroupRoot ?? '/');
  const { nodeName, podsLimit } = context.config;
  const files = await openCgroupTree();
  const tree = cgroupDriver === 'systemd' ? new SystemdTree(files, deps.units) : files;
  const cgroups = new PodCgroups({
    ...deps,
    names,
    tree,
    pidsLimit: config.podPidsLimit,
    enforcesCpuLimits: config.cpuQuotaPeriodUs !== 0,
  });
  await cgroups.limitAll(podsLimit);
  await enforceReservedCgroups(config, { tree, recorder: context.recorder, nodeName });
  return cgroups;
}

/** All ids of the machine except its own, unless the administrator reserved ids for pods. */
async function userIds({ idsPerPod }: LinuxPartsConfig, rootDir: string, { config }: NodePartsContext) {
  const ids = await subordinateIds();
  return { rootDir, idsPerPod, ids, ...(ids && { maxPods: Number(config.capacity.pods ?? 0) }) };
}

/** User ids are allocated with the sandbox, and released when the pod is cleaned up. */
function usersHook(users: UserNamespaces): PodHook {
  return {
    name: 'user-namespaces',
    cleanUp: async ({ uid }) => users.release(uid),
    cleanUpOrphans: async (liveUids) => users.releaseOrphans(liveUids),
  };
}

async function supportsRecursiveReadOnly(pod: core.Pod, runtime: ContainerRuntime, client: Client): Promise<boolean> {
  const [handler, { handlers }] = await Promise.all([runtimeHandler(pod, client), runtime.status()]);
  return handlers.some(({ name, recursiveReadOnlyMounts }) => name === handler && recursiveReadOnlyMounts);
}

const MAX_LINK_NAME = 255;

/** `POD_NAMESPACE_CONTAINER-ID.log`, as log shippers expect it. */
async function linkLog(directory: string, { containerId, config, sandboxConfig }: StartedContainer): Promise<void> {
  if (directory === '') return;
  const { name, namespace } = sandboxConfig.metadata;
  const suffix = `-${containerId}.log`;
  const link = `${name}_${namespace}_${config.metadata.name}`.slice(0, MAX_LINK_NAME - suffix.length) + suffix;
  await symlink(join(sandboxConfig.logDirectory ?? '', config.logPath), join(directory, link)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function removeLinks(directory: string, { metadata }: core.Pod): Promise<void> {
  if (directory === '') return;
  const prefix = `${metadata.name}_${metadata.namespace}_`;
  for (const name of await readdir(directory)) if (name.startsWith(prefix)) await unlink(join(directory, name)).catch(() => {});
}
