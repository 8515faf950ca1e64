interface ContainerdConfig {
  readonly containerd?: {
    readonly snapshotter?: string;
    readonly defaultRuntimeName?: string;
    readonly runtimes?: Readonly<Record<string, { readonly options?: { readonly SystemdCgroup?: boolean } }>>;
  };
}

/** The cgroup driver in the configuration of containerd's verbose status. Undefined: not containerd. */
export function cgroupDriverOf(config: string | undefined): 'systemd' | 'cgroupfs' | undefined {
  const containerd = parse(config)?.containerd;
  if (containerd === undefined) return undefined;
  const runtime = new Map(Object.entries(containerd.runtimes ?? {})).get(containerd.defaultRuntimeName ?? 'runc');
  return runtime?.options?.SystemdCgroup === true ? 'systemd' : 'cgroupfs';
}

/** The snapshotter, which stores image layers. */
export function snapshotterOf(config: string | undefined): string {
  return parse(config)?.containerd?.snapshotter || 'overlayfs';
}

function parse(config: string | undefined): ContainerdConfig | undefined {
  try {
    return config === undefined ? undefined : (JSON.parse(config) as ContainerdConfig);
  } catch {
    return undefined;
  }
}
