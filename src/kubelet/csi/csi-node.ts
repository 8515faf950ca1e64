import type { Clock } from '#base';
import type { CsiControllers } from './controller/csi-controllers.ts';
import { CsiDriver, type CsiDrivers } from './csi-drivers.ts';
import type { CsiNodeObject } from './csi-node-object.ts';
import type { PluginHandler } from './plugin-registry.ts';
import type { VolumeLimits } from './volume-limits.ts';

export interface CsiNodeDeps {
  readonly clock: Clock;
  readonly drivers: CsiDrivers;
  readonly csiNode: CsiNodeObject;
  /** Absent: limits are read when a driver registers. */
  readonly limits?: VolumeLimits | undefined;
  /** Runs the controller services of drivers on this node. Absent: sidecars do. */
  readonly controllers?: CsiControllers | undefined;
}

/** Registers CSI drivers: in this kubelet, in the node's CSINode object, and on the node (its id and topology). */
export function csiPluginHandler({ drivers, clock, csiNode, limits, controllers }: CsiNodeDeps): PluginHandler {
  return {
    async register({ name, endpoint, supportedVersions }, signal) {
      if (!supportedVersions.some((version) => /^v?1(\.|$)/.test(version))) {
        throw new Error(
          `none of the CSI versions ${supportedVersions.join(', ')} of driver ${name} is supported; this kubelet speaks version 1`,
        );
      }
      await controllers?.end(name);
      const driver = new CsiDriver(name, endpoint, clock);
      try {
        await csiNode.add(name, await driver.nodeInfo(signal));
      } catch (error) {
        driver[Symbol.dispose]();
        throw error;
      }
      drivers.add(driver);
      limits?.follow(name);
      // The node service works without it.
      void controllers?.begin(driver);
    },
    async deregister({ name }) {
      await controllers?.end(name);
      limits?.release(name);
      drivers.remove(name);
      await csiNode.remove(name);
    },
  };
}
