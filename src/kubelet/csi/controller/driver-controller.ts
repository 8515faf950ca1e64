import type { Clock, Logger, Requeue } from '#base';
import type { Client, EventRecorder, InformerFactory } from '#client';
import { isStatusReason } from '#machinery';
import type { CsiDriver } from '../csi-drivers.ts';

export interface DriverControllerDeps {
  /** Calls are cancelled when the controller stops. */
  readonly driver: Pick<CsiDriver, 'name' | 'call' | 'hasNodeCapability'>;
  /** The controller service's capabilities, by their names in the specification. */
  readonly capabilities: ReadonlySet<string>;
  /** Whether the driver's volumes are accessible from some nodes only. */
  readonly supportsTopology: boolean;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly informers: InformerFactory;
}

/** The work of one of upstream's sidecars, such as external-provisioner. */
export interface DriverController {
  readonly name: string;
  /** The lease that the sidecar holds while it runs. */
  readonly sidecarLease: string;
  /** Calls `enqueue` with the key of each object that needs a sync, from now on. */
  follow(enqueue: (key: string) => void): void;
  sync(key: string): Promise<Requeue | undefined>;
}

/** Lease names as sidecars choose them. */
export function leaseName(name: string): string {
  return name.replace(/[^a-zA-Z0-9-]/g, '-');
}

export function ignoreError(reason: 'AlreadyExists' | 'NotFound'): (error: unknown) => undefined {
  return (error) => {
    if (!isStatusReason(error, reason)) throw error;
    return undefined;
  };
}
