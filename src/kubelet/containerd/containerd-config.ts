import path from 'node:path';

export interface ContainerdPaths {
  /** Must survive a reboot: images, layers, the configuration and the log. */
  readonly dataDirectory: string;
  /** Must not survive a reboot: sockets and process state. Short, since socket paths are limited to 107 bytes. */
  readonly runDirectory: string;
}

export interface ContainerdSettings extends ContainerdPaths {
  /** The OCI runtime: runc, crun or similar. */
  readonly ociRuntime: string;
  readonly snapshotter: 'overlayfs' | 'native';
  /** Set without CAP_SYS_RESOURCE: oom_score_adj cannot be lower than that of this process. */
  readonly restrictOomScoreAdj: boolean;
  readonly sandboxImage: string;
  readonly cniBinDirectory: string;
  readonly cniConfDirectory: string;
}

export function socketOf({ runDirectory }: ContainerdPaths): string {
  return path.join(runDirectory, 'containerd.sock');
}

/** The directory of hosts.toml files, one directory per registry host. */
export function registryDirectory({ dataDirectory }: ContainerdPaths): string {
  return path.join(dataDirectory, 'certs.d');
}

/** containerd plugins that CRI does not need, or that log warnings on some machines. */
const DISABLED = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.internal.v1.opt',
  'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.internal.v1.tracing',
];

/** The configuration of a private containerd. Version 2 is understood since containerd 1.4. */
export function renderContainerdConfig(settings: ContainerdSettings): string {
  const { dataDirectory, runDirectory, ociRuntime, snapshotter, restrictOomScoreAdj } = settings;
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${toml(path.join(dataDirectory, 'root'))}
state = ${toml(path.join(runDirectory, 'state'))}
disabled_plugins = [${DISABLED.map(toml).join(', ')}]

[grpc]
  address = ${toml(socketOf(settings))}

[${cri}]
  sandbox_image = ${toml(settings.sandboxImage)}
  restrict_oom_score_adj = ${restrictOomScoreAdj}
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  enable_unprivileged_ports = false
  enable_unprivileged_icmp = false

[${cri}.cni]
  bin_dir = ${toml(settings.cniBinDirectory)}
  conf_dir = ${toml(settings.cniConfDirectory)}
  max_conf_num = 1

[${cri}.registry]
  config_path = ${toml(registryDirectory(settings))}

[${cri}.containerd]
  snapshotter = ${toml(snapshotter)}
  default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
  BinaryName = ${toml(ociRuntime)}
  SystemdCgroup = false
`;
}

/** A TOML basic string. */
function toml(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007F');
}
