import { type Clock, type GrpcClient, GrpcError, type Method } from '#base';
import { pluginClient } from '../plugin-client.ts';
import { GetPluginCapabilities, NodeGetCapabilities, NodeGetInfo, type Topology } from './messages.ts';

/** Upstream's timeout of a CSI call. */
const CALL_TIMEOUT_MS = 120_000;

/** A registered CSI driver on this node. */
export class CsiDriver implements Disposable {
  readonly #client: GrpcClient;
  #nodeCapabilities: ReadonlySet<string> | undefined;

  constructor(
    readonly name: string,
    readonly endpoint: string,
    clock: Clock,
  ) {
    this.#client = pluginClient(endpoint, clock);
  }

  /** Rejects with upstream's form of the error: `rpc error: code = Internal desc = …`. */
  async call<Request, Response>(method: Method<Request, Response>, request: Request, signal?: AbortSignal): Promise<Response> {
    try {
      return await this.#client.unary(method, request, { timeoutMs: CALL_TIMEOUT_MS, signal });
    } catch (error) {
      throw error instanceof GrpcError ? new CsiError(error) : error;
    }
  }

  /** The driver with calls that are cancelled by the signal. */
  until(signal: AbortSignal): Pick<CsiDriver, 'name' | 'call' | 'hasNodeCapability'> {
    return {
      name: this.name,
      call: (method, request) => this.call(method, request, signal),
      hasNodeCapability: (capability) => this.hasNodeCapability(capability),
    };
  }

  async nodeInfo(signal?: AbortSignal): Promise<CsiNodeInfo> {
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await this.call(NodeGetInfo, {}, signal);
    if (nodeId === '') throw new Error(`driver ${this.name} gave no node id`);
    return { nodeId, maxVolumesPerNode, topology: accessibleTopology };
  }

  /** Cached: capabilities do not change while the driver is registered. */
  async hasNodeCapability(capability: string): Promise<boolean> {
    if (this.#nodeCapabilities === undefined) {
      const { capabilities } = await this.call(NodeGetCapabilities, {});
      this.#nodeCapabilities = new Set(capabilities.flatMap(({ rpc }) => rpc?.type ?? []));
    }
    return this.#nodeCapabilities.has(capability);
  }

  async hasController(): Promise<boolean> {
    return (await this.services()).has('CONTROLLER_SERVICE');
  }

  /** What the plugin offers, by the names in the specification. */
  async services(signal?: AbortSignal): Promise<ReadonlySet<string>> {
    const { capabilities } = await this.call(GetPluginCapabilities, {}, signal);
    return new Set(capabilities.flatMap(({ service }) => service?.type ?? []));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

export interface CsiNodeInfo {
  readonly nodeId: string;
  /** 0: no limit reported. */
  readonly maxVolumesPerNode: number;
  readonly topology: Topology | undefined;
}

const CODES = [
  ...['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists', 'PermissionDenied'],
  ...['ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented', 'Internal', 'Unavailable', 'DataLoss'],
  'Unauthenticated',
];

/** An error response of a driver. */
export class CsiError extends Error {
  override readonly name = 'CsiError';
  readonly status: number;
  /** The status by its name, such as `NotFound`. */
  readonly code: string;
  readonly description: string;

  constructor(cause: GrpcError) {
    super(`rpc error: code = ${CODES[cause.status] ?? `Code(${cause.status})`} desc = ${cause.message}`, { cause });
    this.status = cause.status;
    this.code = CODES[cause.status] ?? `Code(${cause.status})`;
    this.description = cause.message;
  }

  /** The storage is exhausted, here or entirely. */
  get isExhausted(): boolean {
    return CODES[this.status] === 'ResourceExhausted';
  }

  get isInvalid(): boolean {
    return CODES[this.status] === 'InvalidArgument';
  }

  /** A final error: the request can never succeed. */
  get isInfeasible(): boolean {
    return this.isInvalid || ['OutOfRange', 'NotFound'].includes(CODES[this.status] ?? '');
  }

  /** The operation is not in progress. A driver that answers so after it acted violates the specification. */
  get isFinal(): boolean {
    return !['Canceled', 'DeadlineExceeded', 'Unavailable', 'Aborted'].includes(CODES[this.status] ?? '');
  }

  /** The driver did not start. ResourceExhausted may also mean that its response was too long. */
  get isRejection(): boolean {
    return this.isFinal && !['Unknown', 'Internal', 'DataLoss', 'ResourceExhausted'].includes(CODES[this.status] ?? '');
  }

  /** The operation may be in progress or done: only repeating the call shows its outcome. */
  get isUncertain(): boolean {
    return ['Canceled', 'DeadlineExceeded', 'Unavailable', 'Aborted', 'ResourceExhausted'].includes(CODES[this.status] ?? '');
  }
}

/** The registered drivers of this node, by name. */
export class CsiDrivers implements Disposable {
  readonly #drivers = new Map<string, CsiDriver>();

  get(name: string): CsiDriver {
    const driver = this.#drivers.get(name);
    if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    return driver;
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  add(driver: CsiDriver): void {
    this.#drivers.get(driver.name)?.[Symbol.dispose]();
    this.#drivers.set(driver.name, driver);
  }

  remove(name: string): void {
    this.#drivers.get(name)?.[Symbol.dispose]();
    this.#drivers.delete(name);
  }

  [Symbol.dispose](): void {
    for (const name of this.names()) this.remove(name);
  }
}
