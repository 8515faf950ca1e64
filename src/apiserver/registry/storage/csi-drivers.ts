import { storage } from '#api';
import { deepEqual, type JsonValue } from '#machinery';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** preventPodSchedulingIfMissing is an alpha feature, and disabled. */
function dropScheduling(driver: storage.CSIDriver, old?: storage.CSIDriver): storage.CSIDriver {
  const { preventPodSchedulingIfMissing, ...spec } = driver.spec ?? {};
  if (preventPodSchedulingIfMissing === undefined || old?.spec?.preventPodSchedulingIfMissing !== undefined) return driver;
  return { ...driver, spec };
}

/** The generation is incremented from the first change on. */
function withGeneration(driver: storage.CSIDriver, old: storage.CSIDriver): storage.CSIDriver {
  if (deepEqual(driver.spec as JsonValue, old.spec as JsonValue)) return driver;
  return { ...driver, metadata: { ...driver.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

export const csiDriversStrategy: ResourceStrategy<storage.CSIDriver> = {
  ...storage.csiDriverBehaviour,
  allowUnconditionalUpdate: false,
  prepareForCreate: (driver) => dropScheduling(driver),
  prepareForUpdate: (driver, old) => withGeneration(dropScheduling(driver, old), old),
  returnsDeletedObject: true,
};
