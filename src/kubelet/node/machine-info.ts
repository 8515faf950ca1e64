/** The machine of a node. */
export interface MachineInfo {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly hugePages: readonly { readonly sizeBytes: number; readonly count: number }[];
  /** Of the file system that holds the kubelet's directory. */
  readonly storageBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  /** The kernel enforces AppArmor profiles. */
  readonly hasAppArmor: boolean;
}

/** Read when the kubelet starts, and whenever it reports its node. */
export interface MachineInfoSource {
  read(): Promise<MachineInfo>;
}
